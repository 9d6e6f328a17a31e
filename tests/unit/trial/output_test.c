/* SPDX-License-Identifier: Apache-2.0 */
/* Output compared as people would: numbers as numbers, and without what differs by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* Order matters: cmocka uses the types above without including them. */
#include <cmocka.h>

#include <string.h>

#include "trial/output.h"

/* Returns whether `got` is judged as `want`, after runs of the unchanged program wrote `base`. */
static bool says(const char *const *base, const char *got, double tolerance, const char *want)
{
    struct as_output_model model = {0};
    struct as_output_difference it;
    char text[300];
    for (; *base; base++)
        assert_int_equal(as_output_learn(&model, *base, strlen(*base)), 0);
    assert_int_equal(as_output_compare(&model, got, strlen(got), tolerance, &it), 0);
    as_output_describe(&it, text, sizeof text);
    assert_string_equal(text, want);
    as_output_model_fini(&model);
    return it.differs;
}

#define BASE(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_same(void **state)
{
    (void)state;
    assert_false(says(BASE("sum 1.5\n"), "sum 1.5\n", 0, "same results"));
    assert_false(says(BASE(""), "", 0, "same results"));
    /* Another notation of the same number, and blanks, are not a difference. */
    assert_false(says(BASE("x = 1.0E+01 m\n"), "x =   10.0 m\n", 0, "same results"));
    assert_false(says(BASE("x 1.5D+2"), "x 150.", 0, "same results"));
}

static void test_numbers(void **state)
{
    (void)state;
    assert_false(
        says(BASE("e = 1.00000000"), "e = 1.00000001", 1e-6, "results differ in the 9th digit"));
    assert_true(
        says(BASE("e = 1.00000000"), "e = 1.00000001", -1, "results differ in the 9th digit"));
    assert_true(says(BASE("e=1.5,f=2"), "e=1.5,f=2.2", 1e-6, "results differ in the 2nd digit"));
    assert_true(says(BASE("a 5"), "a -5", 1e-6, "results differ in the 1st digit"));
    assert_true(
        says(BASE("a\nb nan"), "a\nb 1.0", 1e-6, "results differ: line 2: 1.0 instead of nan"));
    assert_true(says(BASE("a 0"), "a 1e-30", 1e-6, "results differ in the 1st digit"));
}

static void test_words(void **state)
{
    (void)state;
    assert_true(says(BASE("converged\n"), "diverged\n", 1,
                     "results differ: line 1: diverged instead of converged"));
    assert_true(says(BASE("a b"), "a b c", 1, "results differ: 3 words instead of 2"));
    assert_true(says(BASE("a b"), "", 1, "results differ: 0 words instead of 2"));
    assert_true(says(BASE("a b"), "a \033[2J", 1, "results differ: line 1: ?[ instead of b"));
    /* A number in a name is part of it. */
    assert_true(
        says(BASE("step3_a"), "step4_a", 1, "results differ: line 1: step4_a instead of step3_a"));
}

static void test_what_varies_by_itself(void **state)
{
    const char *const *base = BASE("sum 1.5\ntime 0.31 s on n7\n", "sum 1.5\ntime 0.32 s on n8\n");
    const char *const *wild = BASE("a\nb\n", "a\n");
    (void)state;
    assert_false(says(base, "sum 1.5\ntime 9.99 s on n9\n", 0, "same results"));
    assert_true(
        says(base, "sum 1.6\ntime 0.31 s on n7\n", 1e-6, "results differ in the 2nd digit"));
    assert_false(says(wild, "a\n", 0, "results not compared"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_what_varies_by_itself)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
