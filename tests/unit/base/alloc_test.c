/* SPDX-License-Identifier: Apache-2.0 */
/* The heap door: overflow, zero sizes, and the seam that makes the n-th allocation fail. */
#include <sys/resource.h>

#include "base/hugepage_policy.h"
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

/* Pages are fetched by a write: none of it may fall on what stands there, or outside. */
static void test_large_blocks(void **state)
{
    (void)state;
    const size_t size_b = ((size_t)9 << 20) + 4097, half_b = size_b / 2;
    volatile size_t many = SIZE_MAX / 2;
    unsigned char *p = as_malloc_large(size_b, 1);
    assert_non_null(p);
    memset(p, 0xa5, half_b);
    as_large_fetch(p, size_b, half_b, size_b);
    for (size_t i = 0; i < half_b; i++)
        assert_int_equal(p[i], 0xa5);
    memset(p, 0x5a, size_b);
    as_free(p);
    p = as_malloc_table(size_b, 1);
    assert_non_null(p);
    memset(p, 0x5a, size_b);
    as_free(p);
    p = as_malloc_table(0, 8);
    assert_non_null(p);
    as_free(p);
    assert_null(as_malloc_table(many, 3));
    as_alloc_fail_after(0);
    assert_null(as_malloc_large(size_b, 1));
    assert_null(as_malloc_table(size_b, 1));
    as_alloc_fail_after(-1);
}

/* Returns the number of large pages fetched out of `n`, if page i takes took_ns(i). The process has
 * run for `ran_ns` before. */
static int fetched_of(int n, int64_t (*took_ns)(int), int64_t ran_ns)
{
    int64_t lost_ns = 0;
    int fetched = 0;
    for (int i = 0; i < n; i++) {
        if (!as_large_pays(lost_ns, ran_ns))
            continue;
        lost_ns = as_large_lost(lost_ns, took_ns(i));
        ran_ns += took_ns(i);
        fetched++;
    }
    return fetched;
}

static int64_t all_fast(int i)
{
    (void)i;
    return 50000;
}

static int64_t first_slow(int i)
{
    return i ? 50000 : 5000000;
}

static int64_t all_slow(int i)
{
    (void)i;
    return 5000000;
}

static int64_t turning_slow(int i)
{
    return i < 500 ? 50000 : 5000000;
}

/* Those that pay are all fetched, also behind a slow one; of those that do not, few. */
static void test_large_pages_that_pay(void **state)
{
    (void)state;
    assert_int_equal(fetched_of(1000, all_fast, 0), 1000);
    assert_int_equal(fetched_of(1000, first_slow, 0), 1000);
    assert_int_equal(fetched_of(1000, all_slow, 0), 2);
    assert_int_equal(as_large_lost(7000000, 2000), 7000000); /* a small page tells nothing */
    assert_in_range(fetched_of(1000, turning_slow, 0), 501, 503);
    /* A minute loses at most 0.3 s and a page. */
    assert_in_range(fetched_of(1000, all_slow, 60000000000), 50, 70);
}

#ifndef __SANITIZE_ADDRESS__ /* which has a heap of its own */
static long faults(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

/* Freed memory is used again without the kernel: a page taken back would be one fault more. */
static void test_freed_pages_are_kept(void **state)
{
    const size_t size_b = (size_t)48 << 20, pages = size_b / 4096;
    (void)state;
    as_alloc_keep();
    for (int i = 0; i < 2; i++) {
        const long before = faults();
        char *p = as_malloc(size_b);
        assert_non_null(p);
        for (size_t at = 0; at < size_b; at += 4096)
            ((volatile char *)p)[at] = 1;
        as_free(p);
        if (i)
            assert_true((size_t)(faults() - before) < pages / 8);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overflow_is_refused),  cmocka_unit_test(test_zero_size_is_no_failure),
        cmocka_unit_test(test_calloc_is_zero),       cmocka_unit_test(test_nth_fails_and_all_after),
        cmocka_unit_test(test_large_blocks),         cmocka_unit_test(test_large_pages_that_pay),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(test_freed_pages_are_kept),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
