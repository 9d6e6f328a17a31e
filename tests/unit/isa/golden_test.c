/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden pairs: each line of tests/golden/isa/FILE is `hex bytes | facts`. With ASSAY_REBASE set,
 * the facts are written anew instead of compared; read the difference before committing it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"

enum { LINE_B = 4096 };

static void rebase_line(FILE *out, const char *line, const char *facts)
{
    size_t hex = strcspn(line, "|\n");
    while (hex && line[hex - 1] == ' ')
        hex--;
    fprintf(out, "%.*s | %s\n", (int)hex, line, facts);
}

static void compare_line(const char *file, int number, const char *line, const char *facts)
{
    const char *bar = strchr(line, '|');
    char expected[LINE_B];
    assert_non_null(bar);
    snprintf(expected, sizeof expected, "%s", bar + 2);
    expected[strcspn(expected, "\n")] = 0;
    if (strcmp(expected, facts))
        fail_msg("%s:%d\n expected: %s\n got:      %s", file, number, expected, facts);
}

static void run_file(const char *name)
{
    char path[LINE_B], fresh[LINE_B + 8], line[LINE_B], facts[LINE_B];
    bool rebase = getenv("ASSAY_REBASE") != NULL;
    snprintf(path, sizeof path, "%s/%s", GOLDEN_DIR, name);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *in = fopen(path, "r"), *out = rebase ? fopen(fresh, "w") : NULL;
    assert_non_null(in);
    int number = 0, checked = 0;
    while (fgets(line, sizeof line, in)) {
        uint8_t bytes[16];
        number++;
        if (line[0] == '#' || line[0] == '\n') {
            if (out)
                fputs(line, out);
            continue;
        }
        size_t n = facts_bytes(line, bytes, sizeof bytes);
        assert_true(n > 0);
        facts_line(bytes, n, facts, sizeof facts);
        checked++;
        if (out)
            rebase_line(out, line, facts);
        else
            compare_line(path, number, line, facts);
    }
    fclose(in);
    assert_true(checked > 10);
    if (out) {
        fclose(out);
        assert_int_equal(rename(fresh, path), 0);
    }
}

#define GOLDEN(name)                                                                               \
    static void golden_##name(void **state)                                                        \
    {                                                                                              \
        (void)state;                                                                               \
        run_file(#name ".txt");                                                                    \
    }
GOLDEN(base)
GOLDEN(x87)
GOLDEN(sse)
GOLDEN(avx)
GOLDEN(avx512)
GOLDEN(amx)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_base),   cmocka_unit_test(golden_x87),
        cmocka_unit_test(golden_sse),    cmocka_unit_test(golden_avx),
        cmocka_unit_test(golden_avx512), cmocka_unit_test(golden_amx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
