/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmark driver: decodes every executable section of a file and keeps all records. Prints the
 * number of instructions and their memory beyond the mapped file. One thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/isa.h"
#include "object/object.h"
#include "status.h"

int main(int argc, char **argv)
{
    struct as_object *object = NULL;
    struct as_error err = {0};
    const struct as_section *section = NULL;
    as_alloc_keep(); /* as the program does */
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    /* The peak less what the file itself has resident, less what the process had before. */
    long before_kib = bench_status_kib("RssAnon");
    if (as_object_open(argv[1], NULL, &object, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    size_t n = as_object_sections(object, &section), insns = 0, bytes = 0, invalid = 0;
    struct as_code *code = calloc(n ? n : 1, sizeof *code);
    for (size_t i = 0; code && i < n; i++) {
        if (!section[i].exec || !section[i].data)
            continue;
        if (as_decode(section[i].data, section[i].size_b, section[i].address, &code[i], &err)) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        insns += code[i].n;
        bytes += section[i].size_b;
        invalid += code[i].invalid_n;
    }
    long used_kib = bench_status_kib("VmHWM") - bench_status_kib("RssFile") - before_kib;
    printf("instructions %zu\nbytes %zu\ninvalid %zu\nkib %ld\nbytes_per_instruction %.2f\n", insns,
           bytes, invalid, used_kib, insns ? (double)used_kib * 1024 / (double)insns : 0);
    for (size_t i = 0; code && i < n; i++)
        as_code_free(&code[i]);
    free(code);
    as_object_close(&object);
    return 0;
}
