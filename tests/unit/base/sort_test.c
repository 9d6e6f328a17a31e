/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sort by keys, against a stable sort of the simplest kind: few and many, keys of every width,
 * equal ones.
 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/sort.h"

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed ^ *seed >> 31;
}

/* Ascending, of equal ones those first that came first, and none is lost. */
static void check(const struct as_sort_key *sorted, const struct as_sort_key *keys, size_t n)
{
    char *seen = calloc(n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        assert_true(sorted[i].at < n && !seen[sorted[i].at]);
        seen[sorted[i].at] = 1;
        assert_true(sorted[i].key == keys[sorted[i].at].key);
        if (i)
            assert_true(sorted[i - 1].key < sorted[i].key ||
                        (sorted[i - 1].key == sorted[i].key && sorted[i - 1].at < sorted[i].at));
    }
    free(seen);
}

static void test_sorts(void **state)
{
    (void)state;
    enum { MOST = 5000 };
    static struct as_sort_key keys[MOST], sorted[MOST];
    uint64_t seed = 3;
    for (unsigned bits = 0; bits < 64; bits += 3) {
        for (size_t n = 0; n <= MOST; n = n < 100 ? n + 7 : n * 4) {
            for (size_t i = 0; i < n; i++)
                keys[i] = sorted[i] = (struct as_sort_key){
                    next_random(&seed) >> (63 - bits) << bits % 5, (uint32_t)i};
            assert_int_equal(as_sort_keys(sorted, n), 0);
            check(sorted, keys, n);
        }
    }
}

static void test_doubles(void **state)
{
    (void)state;
    enum { MOST = 300 };
    double value[MOST], sum, all;
    uint64_t seed = 5;
    as_sort_doubles(NULL, 0);
    for (size_t n = 1; n <= MOST; n += n < 10 ? 1 : 29) {
        all = sum = 0;
        for (size_t i = 0; i < n; i++)
            all += value[i] = (double)(int64_t)next_random(&seed) / 0x1p60 * (i % 3 ? 1 : -1e-9);
        as_sort_doubles(value, n);
        for (size_t i = 0; i < n; i++) {
            sum += value[i];
            assert_true(i == 0 || value[i - 1] <= value[i]);
        }
        assert_true(fabs(sum - all) < 1e-9);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    struct as_sort_key keys[1000];
    for (uint32_t i = 0; i < 1000; i++)
        keys[i] = (struct as_sort_key){1000 - i, i};
    as_alloc_fail_after(0);
    assert_int_equal(as_sort_keys(keys, 1000), AS_ERR_NOMEM);
    as_alloc_fail_after(-1);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(keys[i].at, i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorts),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("base/sort", tests, NULL, NULL);
}
