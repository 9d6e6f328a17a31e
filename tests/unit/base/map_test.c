/* SPDX-License-Identifier: Apache-2.0 */
/* The maps against a plain table, and each allocation failing in turn. */
#include "unit.h"

#include "base/map.h"

/* Spreads and is invertible: distinct inputs, distinct keys. */
static uint64_t key_of(uint64_t i)
{
    return i * 0x9e3779b97f4a7c15u;
}

static void test_numbers(void **state)
{
    (void)state;
    struct as_map_u64 map;
    as_map_u64_init(&map);
    assert_int_equal(as_map_u64_get(&map, 0), AS_MAP_NONE);
    enum { N = 20000 };
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(as_map_u64_put(&map, i % 2 ? key_of(i) : i, i), 0);
    for (uint32_t i = 0; i < N; i += 3)
        assert_int_equal(as_map_u64_put(&map, i % 2 ? key_of(i) : i, i + 1), 0);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(as_map_u64_get(&map, i % 2 ? key_of(i) : i), i % 3 ? i : i + 1);
    for (uint32_t i = 1; i < N; i += 2)
        assert_int_equal(as_map_u64_get(&map, i), AS_MAP_NONE);
    as_map_u64_fini(&map);
    assert_int_equal(as_map_u64_get(&map, 0), AS_MAP_NONE);
}

static void test_strings(void **state)
{
    (void)state;
    struct as_map_view map;
    as_map_view_init(&map);
    assert_int_equal(as_map_view_get(&map, as_view_of("x")), AS_MAP_NONE);
    assert_int_equal(as_map_view_put(&map, (struct as_view){0}, 1), 0);
    assert_int_equal(as_map_view_get(&map, as_view_of("")), 1);
    static char names[5000][12];
    for (uint32_t i = 0; i < 5000; i++) {
        int n = snprintf(names[i], sizeof names[i], "f%u", i);
        struct as_view name = {.p = names[i], .n = (size_t)n};
        assert_int_equal(as_map_view_put(&map, name, i), 0);
    }
    assert_int_equal(as_map_view_count(&map), 5001);
    for (uint32_t i = 0; i < 6000; i++) {
        char other[16];
        snprintf(other, sizeof other, "f%u", i);
        assert_int_equal(as_map_view_get(&map, as_view_of(other)), i < 5000 ? i : AS_MAP_NONE);
    }
    /* Bytes count, not zeros; a prefix is another key. */
    assert_int_equal(as_map_view_put(&map, (struct as_view){.p = "a\0b", .n = 3}, 77), 0);
    assert_int_equal(as_map_view_get(&map, (struct as_view){.p = "a\0c", .n = 3}), AS_MAP_NONE);
    assert_int_equal(as_map_view_get(&map, (struct as_view){.p = "a\0b", .n = 3}), 77);
    assert_int_equal(as_map_view_get(&map, as_view_of("a")), AS_MAP_NONE);
    assert_int_equal(as_map_view_put(&map, as_view_of("f7"), 1000), 0);
    assert_int_equal(as_map_view_get(&map, as_view_of("f7")), 1000);
    assert_int_equal(as_map_view_count(&map), 5002);
    as_map_view_fini(&map);
}

/* Fails the n-th allocation while filling: what was put stays, what was refused is not there. */
static void test_numbers_no_memory(void **state)
{
    (void)state;
    enum { N = 3000 };
    static bool put[N];
    int refusals = 0;
    for (int after = 0; after < 30; after++) {
        struct as_map_u64 map;
        as_map_u64_init(&map);
        as_alloc_fail_after(after);
        size_t count = 0;
        for (uint32_t i = 0; i < N; i++) {
            int rc = as_map_u64_put(&map, key_of(i), i);
            assert_true(rc == 0 || rc == AS_ERR_NOMEM);
            put[i] = rc == 0;
            count += put[i];
        }
        as_alloc_fail_after(-1);
        refusals += count < N;
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(as_map_u64_get(&map, key_of(i)), put[i] ? i : AS_MAP_NONE);
        /* And whole again once there is memory. */
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(as_map_u64_put(&map, key_of(i), i), 0);
        as_map_u64_fini(&map);
    }
    assert_in_range(refusals, 8, 29);
}

static void test_strings_no_memory(void **state)
{
    (void)state;
    enum { N = 1000 };
    static char names[N][12];
    static bool put[N];
    for (uint32_t i = 0; i < N; i++)
        snprintf(names[i], sizeof names[i], "name%u", i);
    for (int after = 0; after < 20; after++) {
        struct as_map_view map;
        as_map_view_init(&map);
        as_alloc_fail_after(after);
        size_t count = 0;
        for (uint32_t i = 0; i < N; i++)
            count += put[i] = as_map_view_put(&map, as_view_of(names[i]), i) == 0;
        as_alloc_fail_after(-1);
        assert_int_equal(as_map_view_count(&map), count);
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(as_map_view_get(&map, as_view_of(names[i])), put[i] ? i : AS_MAP_NONE);
        as_map_view_fini(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_numbers_no_memory),
        cmocka_unit_test(test_strings_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
