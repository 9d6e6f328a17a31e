/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads over time in bins. Each bin of each level has the time in it, for any order, length and
 * number of intervals. Memory stays bounded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/levels.h"

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

struct stretch {
    uint32_t thread;
    unsigned state;
    int64_t begin_ns, end_ns;
};

static int64_t part_of(const struct stretch *s, int64_t begin_ns, int64_t end_ns)
{
    const int64_t from = s->begin_ns > begin_ns ? s->begin_ns : begin_ns;
    const int64_t to = s->end_ns < end_ns ? s->end_ns : end_ns;
    return to > from ? to - from : 0;
}

/* Compares each bin with a sum over all intervals; none is missing. */
static void assert_level(const struct as_levels *levels, const struct stretch *all, size_t n)
{
    int64_t found_ns = 0, all_ns = 0;
    for (uint32_t t = 0; t < levels->thread.n; t++) {
        int64_t last = -1;
        as_vec_foreach (&levels->thread.at[t].bin, bin) {
            assert_true((int64_t)bin->number > last);
            last = bin->number;
            const int64_t begin_ns = last * levels->bin_ns;
            for (unsigned state = 0; state < AS_LEVEL_STATES_N; state++) {
                int64_t ns = 0;
                for (size_t i = 0; i < n; i++)
                    if (all[i].thread == t && all[i].state == state)
                        ns += part_of(&all[i], begin_ns, begin_ns + levels->bin_ns);
                assert_int_equal(bin->ns[state], ns);
                found_ns += ns;
            }
        }
    }
    for (size_t i = 0; i < n; i++)
        all_ns += part_of(&all[i], 0, INT64_MAX);
    assert_int_equal(found_ns, all_ns);
}

static void test_bins(void **state)
{
    (void)state;
    enum { N = 400 };
    struct stretch all[N];
    struct as_levels levels;
    uint64_t seed = 5;
    as_levels_init(&levels);
    for (size_t i = 0; i < N; i++) {
        /* The run turns out to be longer and longer; some begin before it. */
        const int64_t begin_ns = (int64_t)(next_random(&seed) % (2000 * (i + 1))) * 10000 - 5000000;
        all[i] = (struct stretch){.thread = (uint32_t)(next_random(&seed) % 5),
                                  .state = (unsigned)(next_random(&seed) % AS_LEVEL_STATES_N),
                                  .begin_ns = begin_ns,
                                  .end_ns = begin_ns + (int64_t)(next_random(&seed) % 90000000)};
        as_levels_add(&levels, all[i].thread, (enum as_level_state)all[i].state, all[i].begin_ns,
                      all[i].end_ns);
    }
    assert_false(levels.failed);
    assert_true(levels.bin_ns == 4000000);
    assert_true(as_levels_length(&levels) <= 2048 && as_levels_length(&levels) > 900);
    for (unsigned level = 0; level < 5; level++) {
        assert_level(&levels, all, N);
        as_levels_double(&levels);
    }
    as_levels_fini(&levels);
}

/* Many threads that wait for all of a long run, and missing times. */
static void test_bounds(void **state)
{
    (void)state;
    struct as_levels levels;
    as_levels_init(&levels);
    for (uint32_t i = 0; i < 5000; i++)
        as_levels_add(&levels, i, AS_LEVEL_WAITING, i, INT64_C(3600000000000));
    assert_false(levels.failed);
    assert_true(levels.bins_n <= (128u << 10) + 2048);
    assert_true(as_levels_length(&levels) >= 13);
    as_levels_add(&levels, 7, AS_LEVEL_USER, 0, INT64_C(1) << 62);
    as_levels_add(&levels, 7, AS_LEVEL_USER, 9, 9);
    as_levels_add(&levels, 7, AS_LEVEL_USER, 9, -9);
    assert_false(levels.failed);
    assert_true(as_levels_length(&levels) <= 2048);
    as_levels_fini(&levels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bins), cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests_name("profile/levels", tests, NULL, NULL);
}
