/* SPDX-License-Identifier: Apache-2.0 */
/* Binary searches, held to counting: from the whole, and from every place near or far. */
#include "base/search.h"
#include "unit.h"

enum { MANY = 40 };

static size_t counted(const int *at, size_t n, int x)
{
    size_t before = 0;
    while (before < n && at[before] < x)
        before++;
    return before;
}

static void test_search_agrees_with_counting(void **state)
{
    (void)state;
    int at[MANY];
    for (size_t n = 0; n <= MANY; n++) {
        for (size_t i = 0; i < n; i++)
            at[i] = (int)(i / 3 * 4); /* with repeats and gaps */
        for (int x = -1; x < MANY * 2; x++) {
            const size_t expected = counted(at, n, x);
            assert_int_equal(as_first_not(i, n, at[i] < x), expected);
            for (size_t from = 0; from <= n + 2; from++)
                assert_int_equal(as_first_not_near(i, n, from, at[i] < x), expected);
        }
    }
}

/* A near target is found in few steps, in a table of any size. */
static void test_near_is_few_steps(void **state)
{
    (void)state;
    const size_t many = (size_t)1 << 40;
    unsigned steps = 0;
    const size_t up = as_first_not_near(i, many, many / 2, (steps++, i < many / 2 + 3));
    assert_int_equal(up, many / 2 + 3);
    const size_t down = as_first_not_near(i, many, many / 2, (steps++, i < many / 2 - 3));
    assert_int_equal(down, many / 2 - 3);
    assert_true(steps < 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_agrees_with_counting),
        cmocka_unit_test(test_near_is_few_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
