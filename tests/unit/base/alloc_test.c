/* SPDX-License-Identifier: Apache-2.0 */
/* The heap door: overflow, zero sizes, and the seam that makes the n-th allocation fail. */
#include "unit.h"

static void test_overflow_is_refused(void **state)
{
    (void)state;
    assert_null(as_realloc(NULL, SIZE_MAX / 2, 3));
    /* Opaque to the compiler, which would refuse the constant. */
    volatile size_t many = SIZE_MAX / 2;
    assert_null(as_calloc(many, 3));
}

static void test_zero_size_is_no_failure(void **state)
{
    (void)state;
    void *a = as_malloc(0);
    void *b = as_calloc(0, 8);
    void *c = as_realloc(NULL, 0, 8);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    as_free(a);
    as_free(b);
    as_free(c);
    as_free(NULL);
}

static void test_calloc_is_zero(void **state)
{
    (void)state;
    unsigned char *p = as_calloc(100, 3);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(p[i], 0);
    as_free(p);
}

static void test_nth_fails_and_all_after(void **state)
{
    (void)state;
    as_alloc_fail_after(2);
    void *a = as_malloc(8);
    void *b = as_calloc(1, 8);
    assert_non_null(a);
    assert_non_null(b);
    assert_null(as_malloc(8));
    assert_null(as_calloc(1, 8));
    assert_null(as_realloc(a, 16, 1)); /* and leaves `a` */
    as_alloc_fail_after(-1);
    a = as_realloc(a, 16, 1);
    assert_non_null(a);
    as_free(a);
    as_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overflow_is_refused),
        cmocka_unit_test(test_zero_size_is_no_failure),
        cmocka_unit_test(test_calloc_is_zero),
        cmocka_unit_test(test_nth_fails_and_all_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
