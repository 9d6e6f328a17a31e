/* SPDX-License-Identifier: Apache-2.0 */
/* Reuse distances against a list that is searched, and curves against caches of a size. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "cache/cache.h"

static uint64_t random_state = 88172645463325252u;
static uint64_t draw(uint64_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

/* The lines in the order of their use, the latest first. */
static uint64_t listed[3000];
static uint64_t listed_n;

static uint64_t list_distance(uint64_t line)
{
    uint64_t at = 0;
    while (at < listed_n && listed[at] != line)
        at++;
    const uint64_t distance = at == listed_n ? AS_REUSE_COLD : at;
    listed_n += at == listed_n;
    memmove(listed + 1, listed, at * sizeof *listed);
    listed[0] = line;
    return distance;
}

/* More lines and accesses than the tables have room for at first. */
static void test_distances(void **state)
{
    struct as_reuse *reuse;
    (void)state;
    assert_int_equal(as_reuse_new(0, &reuse, NULL), 0);
    listed_n = 0;
    for (int i = 0; i < 60000; i++) {
        const uint64_t line = draw(4) ? draw(40) : draw(3000);
        assert_true(as_reuse_access(reuse, line) == list_distance(line));
    }
    as_reuse_free(&reuse);
    assert_null(reuse);
}

/* A sweep over n lines: all distances are n - 1, sampled within 5 %, and the curve has a step. */
static void test_sample(void **state)
{
    enum { LINES = 100000, SHIFT = 5 };
    static struct as_reuse_curve curve;
    struct as_reuse *reuse;
    uint64_t sampled = 0;
    (void)state;
    assert_int_equal(as_reuse_new(SHIFT, &reuse, NULL), 0);
    for (int sweep = 0; sweep < 5; sweep++)
        for (uint64_t line = 0; line < LINES; line++) {
            const uint64_t distance = as_reuse_access(reuse, 1000 + line);
            as_reuse_curve_add(&curve, distance, 1);
            sampled += distance != AS_REUSE_SKIPPED;
            if (distance < AS_REUSE_NO_SPACE)
                assert_true(fabs((double)distance / LINES - 1) < 0.05);
        }
    assert_true(fabs((double)sampled * (1 << SHIFT) / (5.0 * LINES) - 1) < 0.05);
    assert_true(as_reuse_miss_share(&curve, 0.8 * LINES) == 1);
    assert_true(fabs(as_reuse_miss_share(&curve, 1.2 * LINES) - 0.2) < 1e-9);
    as_reuse_free(&reuse);
}

/* A fully associative cache of any size misses as the curve says. */
static void test_curve(void **state)
{
    static struct as_reuse_curve curve;
    struct as_reuse *reuse;
    struct as_cache *cache[3];
    struct as_cache_counts counts[3] = {0};
    static const uint64_t lines[3] = {64, 512, 2048};
    const int n = 200000;
    (void)state;
    assert_int_equal(as_reuse_new(0, &reuse, NULL), 0);
    for (int c = 0; c < 3; c++) {
        const struct as_cache_level level = {lines[c] * 64, 0, AS_CACHE_PLAIN};
        assert_int_equal(as_cache_new(&level, 1, 64, &cache[c], NULL), 0);
    }
    for (int i = 0; i < n; i++) {
        const uint64_t line = draw(4000) * draw(4000) / 4000;
        as_reuse_curve_add(&curve, as_reuse_access(reuse, line), 1);
        for (int c = 0; c < 3; c++)
            as_cache_line(cache[c], line, AS_CACHE_READ, 0, 1, &counts[c]);
    }
    for (int c = 0; c < 3; c++) {
        const double share = counts[c].level[0].miss_n / n;
        assert_true(share > 0.1 && share < 0.99);
        assert_true(fabs(as_reuse_miss_share(&curve, (double)lines[c]) - share) < 1e-9);
        as_cache_free(&cache[c]);
    }
    assert_true(isnan(as_reuse_miss_share(&(struct as_reuse_curve){.cold = 0}, 1)));
    as_reuse_free(&reuse);
}

static void test_memory(void **state)
{
    struct as_reuse *reuse;
    struct as_error err = {0};
    (void)state;
    for (int i = 0; i < 4; i++) {
        as_alloc_fail_after(i);
        assert_int_equal(as_reuse_new(0, &reuse, &err), AS_ERR_NOMEM);
        as_alloc_fail_after(-1);
        assert_null(reuse);
    }
    assert_int_equal(as_reuse_new(0, &reuse, &err), 0);
    as_alloc_fail_after(0);
    uint64_t failed = 0;
    for (uint64_t line = 0; line < 10000; line++)
        failed += as_reuse_access(reuse, line) == AS_REUSE_NO_SPACE;
    as_alloc_fail_after(-1);
    assert_true(failed > 1000 && failed < 9000);
    assert_true(as_reuse_access(reuse, 3) > 1000);
    as_reuse_free(&reuse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_distances),
                                       cmocka_unit_test(test_sample), cmocka_unit_test(test_curve),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
