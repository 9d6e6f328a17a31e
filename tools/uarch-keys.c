/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys under which tables of cores (data/uarch/) have instructions: reads lines of hexadecimal
 * machine code, writes the keys of the instructions of each line, TAB-separated. --k1om: of
 * Knights Corner.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "isa/isa.h"
#include "machine/uarch.h"

static int print_keys(const char *line, bool k1om)
{
    uint8_t bytes[4096];
    char key[AS_UARCH_KEY_B];
    struct as_code code;
    struct as_error err;
    const size_t n = as_hex_get(line, bytes, sizeof bytes);
    const struct as_bytes range = {.bytes = bytes, .size_b = n, .address = 0x1000, .k1om = k1om};
    if (as_decode_ranges(&range, 1, &code, NULL, &err) < 0)
        return fprintf(stderr, "uarch-keys: %s\n", err.text), 1;
    for (size_t i = 0; i < code.n; i++) {
        as_uarch_key(&code.insn[i], key, sizeof key);
        printf("%s%s", i ? "\t" : "", key);
    }
    printf("\n");
    as_code_free(&code);
    return 0;
}

int main(int argc, char **argv)
{
    static char line[16384];
    const bool k1om = argc > 1 && strcmp(argv[1], "--k1om") == 0;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (print_keys(line, k1om))
            return 1;
    }
    return 0;
}
