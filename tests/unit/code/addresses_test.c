/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting of addresses, held to qsort; the region of an address, held to a look at each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "code/internal.h"

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 11;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* `n` addresses among `kinds` different ones, `spread` apart. */
static void check_sort(size_t n, uint64_t kinds, uint64_t spread)
{
    uint64_t seed = n + kinds;
    uint64_t *a = as_malloc((n + 1) * sizeof *a), *b = as_malloc((n + 1) * sizeof *b);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] = 0x7f0000001000u + next_random(&seed) % kinds * spread;
    qsort(b, n, sizeof *b, by_value);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || b[kept - 1] != b[i])
            b[kept++] = b[i];
    assert_int_equal(as_sort_unique(a, n), kept);
    assert_memory_equal(a, b, kept * sizeof *a);
    as_free(a);
    as_free(b);
}

static void test_sort(void **state)
{
    (void)state;
    for (size_t n = 1; n < 5000; n = n * 2 + 1) {
        check_sort(n, 3, 1);
        check_sort(n, n, 8);
        check_sort(n, 1u << 20, 1);
        check_sort(n, UINT64_MAX, 1);
    }
    assert_int_equal(as_sort_unique(NULL, 0), 0);
}

static uint32_t looked_for(const struct as_builder *b, uint64_t address)
{
    for (uint32_t r = 0; r < b->region.n; r++)
        if (address >= b->region.at[r].start && address < b->region.at[r].end)
            return r;
    return AS_NONE;
}

/* Regions with holes between them, some of them wide: every address in and around them. */
static void test_region_of_an_address(void **state)
{
    (void)state;
    struct as_builder b = {.path_limit = 0};
    uint64_t seed = 7, at = 0x1000;
    for (int i = 0; i < 200; i++) {
        const uint64_t start = at + (i % 10 == 9 ? 5000 : next_random(&seed) % 3);
        at = start + 1 + next_random(&seed) % 90;
        assert_int_equal(as_vec_push(&b.region, (struct as_region){.start = start, .end = at}), 0);
    }
    assert_int_equal(as_regions_index(&b), 0);
    assert_true(b.near.n > 0);
    for (uint64_t address = 0; address < at + 10000; address++)
        assert_int_equal(as_region_at(&b, address), looked_for(&b, address));
    assert_int_equal(as_region_at(&b, UINT64_MAX), AS_NONE);
    as_free(b.near.first);
    as_vec_fini(&b.region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_region_of_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
