/* SPDX-License-Identifier: Apache-2.0 */
/* The vector: growth keeps elements, failures leave it whole, overflow is out of memory. */
#include "unit.h"

#include "base/vec.h"

struct pair {
    uint32_t a;
    uint64_t b;
};

static void test_push_and_walk(void **state)
{
    (void)state;
    AS_VEC(struct pair) v = {0};
    int steps = 0;
    as_vec_foreach (&v, it)
        steps++;
    assert_int_equal(steps, 0);
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(as_vec_push(&v, (struct pair){i, (uint64_t)i * i}), 0);
    assert_int_equal(v.n, 10000);
    uint32_t i = 0;
    as_vec_foreach (&v, it) {
        assert_int_equal(it->a, i);
        assert_int_equal(it->b, (uint64_t)i * i);
        i++;
    }
    assert_int_equal(i, 10000);
    as_vec_fini(&v);
    assert_null(v.at);
    assert_int_equal(v.n + v.cap, 0);
}

static void test_reserve(void **state)
{
    (void)state;
    AS_VEC(uint16_t) v = {0};
    assert_int_equal(as_vec_reserve(&v, 0), 0);
    assert_null(v.at);
    assert_int_equal(as_vec_reserve(&v, 100), 0);
    assert_true(v.cap >= 100);
    assert_int_equal(v.n, 0);
    uint16_t *before = v.at;
    for (uint16_t i = 0; i < 100; i++)
        assert_int_equal(as_vec_push(&v, i), 0);
    assert_ptr_equal(v.at, before);
    assert_int_equal(as_vec_reserve(&v, SIZE_MAX), AS_ERR_NOMEM);
    assert_int_equal(v.n, 100);
    assert_int_equal(v.at[99], 99);
    as_vec_fini(&v);
}

static void test_no_memory(void **state)
{
    (void)state;
    for (int after = 0; after < 8; after++) {
        AS_VEC(uint64_t) v = {0};
        uint64_t pushed = 0;
        as_alloc_fail_after(after);
        while (as_vec_push(&v, pushed) == 0)
            pushed++;
        as_alloc_fail_after(-1);
        assert_int_equal(v.n, pushed);
        assert_int_equal(pushed > 0, after > 0);
        for (uint64_t i = 0; i < pushed; i++)
            assert_int_equal(v.at[i], i);
        assert_int_equal(as_vec_push(&v, pushed), 0);
        as_vec_fini(&v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_and_walk),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
