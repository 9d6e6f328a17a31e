/* SPDX-License-Identifier: Apache-2.0 */
/* Which instances stand on a time line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "vprof/line.h"

enum { MANY = 40000 };

/* Few: all of them, in order. */
static void test_few(void **state)
{
    (void)state;
    const struct as_instance it[3] = {{.begun = 30, .ticks = 3}, {.begun = 10}, {.begun = 20}};
    struct as_instance *line;
    size_t n;
    assert_int_equal(as_line_make(it, 3, &line, &n, NULL), 0);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(line[i].begun, 10 * (i + 1));
    assert_true(line[2].ticks == 3);
    as_free(line);
    assert_int_equal(as_line_make(it, 0, &line, &n, NULL), 0);
    assert_int_equal(n, 0);
    as_free(line);
}

/* Many: one of each part of the time, in order, and both kinds of a program that takes turns. */
static void test_turns(void **state)
{
    (void)state;
    struct as_instance *it = as_calloc(MANY, sizeof *it), *line;
    size_t n, odd = 0;
    assert_non_null(it);
    for (size_t i = 0; i < MANY; i++)
        it[i] = (struct as_instance){.begun = MANY - i, .ticks = (double)((MANY - i) % 2)};
    assert_int_equal(as_line_make(it, MANY, &line, &n, NULL), 0);
    assert_int_equal(n, AS_LINE_MOST);
    for (size_t i = 0; i < n; i++) {
        const size_t part = MANY / AS_LINE_MOST;
        assert_in_range(line[i].begun, i * part + 1, (i + 1) * part);
        odd += line[i].ticks > 0;
    }
    assert_in_range(odd, AS_LINE_MOST / 3, 2 * AS_LINE_MOST / 3);
    as_free(line);
    as_free(it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few), cmocka_unit_test(test_turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
