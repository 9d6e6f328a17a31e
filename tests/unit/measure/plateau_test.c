/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plateaus of curves that were made, and of one that was recorded: names go by the caches' sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "measure/plateau.h"
#include "measure/rig.h"

#define K 1024.0
#define M (1024 * K)

static double x[128], y[128];
static struct as_plateau plateau[AS_PLATEAUS_MOST];

/* Four points an octave from 8 KiB; flat in each level, a climb of an octave behind it; 3 % of
 * jitter. */
static size_t make_curve(const double *size_b, const double *ns, size_t levels, double most_b)
{
    size_t n = 0;

    for (double size = 8 * K; size <= most_b; size *= pow(2, 0.25), n++) {
        size_t level = 0;
        while (level < levels && size > size_b[level] * 1.01)
            level++;
        x[n] = size;
        y[n] = ns[level];
        if (level > 0 && size < size_b[level - 1] * 2)
            y[n] = ns[level - 1] * pow(ns[level] / ns[level - 1], log2(size / size_b[level - 1]));
        y[n] *= 1 + 0.03 * (double)(n * 7 % 5 - 2) / 2;
    }
    return n;
}

static size_t name_curve(size_t n, uint64_t l1, uint64_t l2, uint64_t l3)
{
    const uint64_t cache_b[4] = {0, l1, l2, l3};
    const size_t found = as_plateaus_find(x, y, n, plateau);

    as_plateaus_name(plateau, found, cache_b);
    return found;
}

static const struct as_plateau *of_level(size_t n, int level)
{
    const struct as_plateau *found = NULL;
    for (size_t i = 0; i < n; i++)
        if (plateau[i].level == level) {
            assert_null(found); /* one of each */
            found = &plateau[i];
        }
    return found;
}

static void expect_level(size_t n, int level, double ns)
{
    const struct as_plateau *p = of_level(n, level);
    if (!p)
        fail_msg("no plateau of level %d", level);
    if (fabs(p->value / ns - 1) > 0.05)
        fail_msg("level %d: %f, expected %f", level, p->value, ns);
}

static void levels_have_their_names(void **state)
{
    static const double size[] = {48 * K, 1 * M, 32 * M}, ns[] = {1.1, 3.9, 13, 110};
    (void)state;
    const size_t n = name_curve(make_curve(size, ns, 3, 256 * M), 48 << 10, 1 << 20, 32 << 20);
    assert_int_equal(n, 4);
    expect_level(n, 1, 1.1);
    expect_level(n, 2, 3.9);
    expect_level(n, 3, 13);
    expect_level(n, 0, 110);
}

/* Without an L3 (Knights Landing, or a machine that hides it) the third is memory, not "L3". */
static void a_missing_cache_takes_no_name(void **state)
{
    static const double size[] = {32 * K, 1 * M}, ns[] = {2.8, 12, 150};
    (void)state;
    const size_t n = name_curve(make_curve(size, ns, 2, 64 * M), 32 << 10, 1 << 20, 0);
    assert_int_equal(n, 3);
    expect_level(n, 1, 2.8);
    expect_level(n, 2, 12);
    assert_null(of_level(n, 3));
    expect_level(n, 0, 150);
}

/* A machine that reports 32 MiB, of which 8 are ours: an L3 of 8 MiB. */
static void a_share_of_a_cache(void **state)
{
    static const double size[] = {48 * K, 1 * M, 8 * M}, ns[] = {1.1, 3.9, 13, 110};
    (void)state;
    const size_t n = name_curve(make_curve(size, ns, 3, 256 * M), 48 << 10, 1 << 20, 32 << 20);
    expect_level(n, 1, 1.1);
    expect_level(n, 2, 3.9);
    expect_level(n, 3, 13);
    expect_level(n, 0, 110);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(plateau[i].is_share, plateau[i].level == 3);
    assert_true(of_level(n, 3)->last_b < 9 * M && of_level(n, 3)->last_b > 6 * M);
}

/* Behind an L2 of which half is there nothing is flat but memory: there is no L3. */
static void memory_is_no_share(void **state)
{
    static const double size[] = {48 * K, 512 * K}, ns[] = {1.1, 3.9, 110};
    (void)state;
    const size_t n = name_curve(make_curve(size, ns, 2, 256 * M), 48 << 10, 1 << 20, 32 << 20);
    assert_null(of_level(n, 3));
    expect_level(n, 0, 110);
}

/* Pages that a hypervisor scattered collide from half of an L2 on: the flat half is the L2. */
static void half_of_a_cache_between(void **state)
{
    static const double size[] = {48 * K, 512 * K, 8 * M}, ns[] = {1.1, 3.6, 13, 110};
    (void)state;
    const size_t n = name_curve(make_curve(size, ns, 3, 256 * M), 48 << 10, 1 << 20, 32 << 20);
    expect_level(n, 1, 1.1);
    expect_level(n, 2, 3.6);
    expect_level(n, 3, 13);
    expect_level(n, 0, 110);
    assert_true(of_level(n, 2)->is_share && of_level(n, 3)->is_share);
    assert_false(of_level(n, 1)->is_share);
}

/* Memory that climbs in two steps, the first of which ends where the last cache is said to. */
static void a_climb_of_memory_is_no_cache(void **state)
{
    static const double size[] = {48 * K, 1 * M, 6 * M, 32 * M}, ns[] = {1.1, 3.9, 13, 120, 155};
    (void)state;
    const size_t n = name_curve(make_curve(size, ns, 4, 256 * M), 48 << 10, 1 << 20, 32 << 20);
    assert_int_equal(n, 5);
    expect_level(n, 3, 13);
    expect_level(n, 0, 155);
}

/* An unreported level lies between: the order of the others does not move. */
static void an_unknown_level_between(void **state)
{
    static const double size[] = {32 * K, 200 * K, 2 * M, 32 * M}, ns[] = {1.2, 2.5, 5, 15, 100};
    (void)state;
    const size_t n = name_curve(make_curve(size, ns, 4, 256 * M), 32 << 10, 2 << 20, 32 << 20);
    expect_level(n, 1, 1.2);
    expect_level(n, 2, 5);
    expect_level(n, 3, 15);
    expect_level(n, 0, 100);
}

/* Recorded in a virtual machine that reports the 480 MiB of the whole CPU package. About seven MiB
 * are its own. No area is large enough to show that at twice these 480. */
static void memory_stands_before_the_size_of_a_cache(void **state)
{
    static const double ns[] = {1.35, 1.39, 1.39, 1.36, 1.34, 1.35, 1.35, 1.35, 1.39, 1.4,  1.4,
                                4.39, 4.44, 4.44, 4.45, 4.44, 4.45, 4.45, 4.45, 4.45, 4.45, 4.45,
                                4.45, 4.67, 4.94, 5.19, 5.23, 5.39, 5.69, 5.79, 7.58, 9.01, 15.9,
                                22.7, 27.3, 29.4, 31.3, 32.4, 33.1, 34.5, 37.2, 42.8, 49.1, 72.1,
                                128,  145,  151,  150,  154,  156,  157,  159,  160,  162,  160,
                                162,  164,  163,  166,  169,  172,  175,  181,  189,  193};
    const size_t points = sizeof ns / sizeof *ns;
    (void)state;
    for (size_t i = 0; i < points; i++) {
        x[i] = 8 * K * pow(2, (double)i / 4);
        y[i] = ns[i];
    }
    size_t n = name_curve(points, 48 << 10, 2 << 20, 480 << 20);
    expect_level(n, 1, 1.36);
    expect_level(n, 2, 4.45);
    expect_level(n, 3, 32.4);
    expect_level(n, 0, 160);
    assert_true(of_level(n, 3)->is_share && of_level(n, 3)->last_b < 9 * M);
    n = name_curve(points, 48 << 10, 2 << 20,
                   320 << 20); /* that ends where memory's plateau does */
    expect_level(n, 3, 32.4);
    expect_level(n, 0, 160);
}

static void one_bad_point_does_not_split(void **state)
{
    static const double size[] = {48 * K, 1 * M, 32 * M}, ns[] = {1.1, 3.9, 13, 110};
    (void)state;
    const size_t points = make_curve(size, ns, 3, 256 * M);
    y[15] *= 3; /* external load in between, in the middle of the L2 */
    const size_t n = name_curve(points, 48 << 10, 1 << 20, 32 << 20);
    expect_level(n, 2, 3.9);
    assert_int_equal(n, 4);
}

static void a_climb_has_no_plateau(void **state)
{
    (void)state;
    for (size_t i = 0; i < 40; i++) {
        x[i] = 8 * K * pow(2, (double)i / 4);
        y[i] = pow(1.2, (double)i);
    }
    assert_int_equal(name_curve(40, 48 << 10, 1 << 20, 0), 0);
    assert_int_equal(name_curve(0, 48 << 10, 1 << 20, 0), 0);
    assert_int_equal(name_curve(1, 48 << 10, 1 << 20, 0), 0);
}

/* Bandwidth of a cache of which a part is there is measured in that part. */
static void arrays_lie_in_the_share(void **state)
{
    static struct as_rig rig;
    static struct as_figure_point point[128];
    static const double all[] = {48 * K, 1 * M, 32 * M}, share[] = {48 * K, 1 * M, 5 * M},
                        ns[] = {1.1, 3.9, 13, 110};
    struct as_figures figures = {.point = point};
    const struct as_scope one = {.name = "core", .n = 1};

    (void)state;
    rig.figures = &figures;
    for (unsigned level = 1; level < 4; level++) {
        rig.cache_b[level] = (uint64_t)all[level - 1];
        rig.sharers[level] = 2;
    }
    as_rig_see_share(&rig); /* never measured */
    assert_int_equal(as_level_b(&rig, 3, &one), 6 << 20);
    for (int shared = 0; shared < 2; shared++) {
        figures.point_n = make_curve(shared ? share : all, ns, 3, 256 * M);
        for (size_t i = 0; i < figures.point_n; i++)
            point[i] = (struct as_figure_point){"latency.huge", x[i], y[i]};
        as_rig_see_share(&rig);
        if (!shared)
            assert_int_equal(as_level_b(&rig, 3, &one), 6 << 20);
        assert_int_equal(as_level_b(&rig, 2, &one), 6 * 48 << 10);
    }
    assert_true(as_level_b(&rig, 3, &one) <= 3 << 20 && as_level_b(&rig, 3, &one) >= 2 << 20);
    for (size_t i = 0; i < figures.point_n; i++)
        point[i].curve = "latency.small";
    as_rig_see_share(&rig);
    assert_int_equal(as_level_b(&rig, 3, &one), 6 << 20);
}

/* Each of several sizes lies in the level, beside the areas of other members of the scope. */
static void sizes_lie_in_the_level(void **state)
{
    static struct as_rig rig;
    const struct as_scope one = {.name = "core", .n = 1}, all = {.name = "all", .n = 2};
    size_t size_b[AS_LEVEL_SIZES];

    (void)state;
    rig.cache_b[1] = 48 << 10, rig.cache_b[2] = 1 << 20, rig.cache_b[3] = 32 << 20;
    rig.sharers[1] = rig.sharers[2] = 1, rig.sharers[3] = 2;
    rig.seen_b[3] = 8 << 20;
    rig.memory_most_b = 1 << 30;
    assert_int_equal(as_level_sizes(&rig, 2, &one, size_b), 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(size_b[i] >= 96 << 10 && size_b[i] <= 1 << 20);
    size_t n = as_level_sizes(&rig, 3, &one, size_b);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++)
        assert_true(size_b[i] >= 2 << 20 && size_b[i] <= 8 << 20);
    n = as_level_sizes(&rig, 3, &all, size_b);
    for (size_t i = 0; i < n; i++) /* each thread */
        assert_true(size_b[i] >= 2 << 20 && size_b[i] <= 4 << 20);
    rig.seen_b[3] = 6889 << 10; /* less, but for both more than their second caches */
    assert_true(as_level_b(&rig, 3, &all) >= 2 << 20 && as_level_b(&rig, 3, &all) <= 3 << 20);
    rig.seen_b[3] = 4871 << 10;
    assert_int_equal(as_level_sizes(&rig, 3, &all, size_b), 0);
    assert_int_equal(as_level_sizes(&rig, 0, &all, size_b), 1);
    rig.cache_b[3] = 0;
    assert_int_equal(as_level_sizes(&rig, 3, &one, size_b), 0);
}

/* ---- Times of trials ------------------------------------------------------------------------- */

static void trials_take_the_clean_ones(void **state)
{
    double second[12];
    bool clean[12];
    struct as_trials t;

    (void)state;
    for (size_t i = 0; i < 12; i++) {
        clean[i] = i % 2 == 0;
        second[i] = clean[i] ? 1 + 0.001 * (double)i : 0.5 * (double)i;
    }
    as_trials_estimate(second, clean, 12, &t);
    assert_true(t.is_calm);
    assert_int_equal(t.sample_n, 6);
    assert_true(t.best_s >= 1 && t.best_s < 1.01);
    assert_true(t.spread >= 0 && t.spread < 0.02);
    for (size_t i = 0; i < 12; i++) {
        clean[i] = i == 3;
        second[i] = 1 + 0.1 * (double)i;
    }
    as_trials_estimate(second, clean, 12, &t); /* too few: all, and said */
    assert_false(t.is_calm);
    assert_int_equal(t.sample_n, 12);
    as_trials_estimate(second, NULL, 12, &t);
    assert_true(t.is_calm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_have_their_names),
        cmocka_unit_test(a_missing_cache_takes_no_name),
        cmocka_unit_test(a_share_of_a_cache),
        cmocka_unit_test(memory_is_no_share),
        cmocka_unit_test(half_of_a_cache_between),
        cmocka_unit_test(a_climb_of_memory_is_no_cache),
        cmocka_unit_test(an_unknown_level_between),
        cmocka_unit_test(memory_stands_before_the_size_of_a_cache),
        cmocka_unit_test(one_bad_point_does_not_split),
        cmocka_unit_test(a_climb_has_no_plateau),
        cmocka_unit_test(arrays_lie_in_the_share),
        cmocka_unit_test(sizes_lie_in_the_level),
        cmocka_unit_test(trials_take_the_clean_ones),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
