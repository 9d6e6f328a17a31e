/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterations a second by the counters of outer loops. Samples are made from a nest of loops that
 * runs at a known pace.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "profile/accesses.h"

enum { SAMPLES = 200, RATE_HZ = 500, INNER = 0, OUTER = 1 /* registers: rax, rdx of DWARF */ };

/* A nest: an entry of the inner loop has `inner_n` iterations; the outer loop begins anew after
 * `outer_n` entries. */
struct nest {
    double inner_n, outer_n, per_s;
    bool is_triangular; /* an entry has as many iterations as entries went before */
    unsigned gap;       /* sample periods between two samples */
    unsigned threads;
};

/* The counters of a nest at a time. */
static void counters_at(const struct nest *nest, double time_s, struct as_tally_draw *out)
{
    double done = nest->per_s * time_s, entry, left;

    if (nest->is_triangular) {
        done = fmod(done, nest->outer_n * (nest->outer_n + 1) / 2);
        entry = floor((sqrt(8 * done + 1) - 1) / 2);
        left = entry + 1 - (done - entry * (entry + 1) / 2);
    } else {
        entry = fmod(floor(done / nest->inner_n), nest->outer_n);
        left = nest->inner_n - fmod(done, nest->inner_n);
    }
    out->reg[INNER] = (uint64_t)(int64_t)(1000000 - left);
    out->reg[OUTER] = (uint64_t)entry;
}

/* The pace that the samples of a nest give; below 0: an error. */
static double pace_of_nest(const struct nest *nest)
{
    static struct as_tally_draw draw[SAMPLES];
    const struct as_tally_held held = {.sample_n = SAMPLES, .draws = SAMPLES, .draw = draw};
    const struct as_held_site site = {.held = &held};
    struct as_operand_loop loop = {.site = &site, .site_n = 1, .outer_n = 1};
    double per_s = 0;

    loop.streams.limit = (struct assay_loop_limit){
        .step = 1, .bound = 1000000, .reg = 0, .bound_reg = ASSAY_REG_NONE, .width_b = 8};
    loop.outer_limit[0] = loop.streams.limit;
    loop.outer_limit[0].reg = 2; /* rdx */
    for (unsigned i = 0; i < SAMPLES; i++) {
        const unsigned tid = i % nest->threads;
        const double time_s = (double)(i / nest->threads * nest->gap) / RATE_HZ + 0.0005 * tid;
        draw[i] = (struct as_tally_draw){.tid = tid, .time_ns = 1 + (uint64_t)(1e9 * time_s)};
        counters_at(nest, time_s, &draw[i]);
    }
    const int rc = as_outer_pace(&loop, RATE_HZ, &per_s, NULL);
    return rc < 0 ? rc : per_s;
}

static void test_pace_is_that_of_the_nest(void **state)
{
    const struct nest nest = {
        .inner_n = 2000, .outer_n = 9000, .per_s = 3e8, .gap = 1, .threads = 1};
    const struct nest two = {
        .inner_n = 313, .outer_n = 90000, .per_s = 7e7, .gap = 3, .threads = 2};

    (void)state;
    assert_true(fabs(pace_of_nest(&nest) / nest.per_s - 1) < 0.05);
    assert_true(fabs(pace_of_nest(&two) / two.per_s - 1) < 0.05);
}

static void test_entries_that_differ_have_no_pace(void **state)
{
    const struct nest nest = {
        .outer_n = 5000, .per_s = 3e7, .is_triangular = true, .gap = 1, .threads = 1};

    (void)state;
    assert_true(pace_of_nest(&nest) == 0);
}

/* 300 entries pass between two samples. */
static void test_short_outer_loops_have_no_pace(void **state)
{
    const struct nest nest = {
        .inner_n = 2000, .outer_n = 211, .per_s = 3e8, .gap = 1, .threads = 1};
    const struct nest once = {
        .inner_n = 2000, .outer_n = 700, .per_s = 3e8, .gap = 1, .threads = 1};

    (void)state;
    assert_true(pace_of_nest(&nest) == 0);
    assert_true(pace_of_nest(&once) <= once.per_s * 1.05);
}

static void test_samples_far_apart_have_no_pace(void **state)
{
    const struct nest nest = {
        .inner_n = 2000, .outer_n = 1e9, .per_s = 3e8, .gap = 4, .threads = 1};

    (void)state;
    assert_true(pace_of_nest(&nest) == 0);
}

static void test_no_memory_for_a_pace(void **state)
{
    const struct nest nest = {
        .inner_n = 2000, .outer_n = 9000, .per_s = 3e8, .gap = 1, .threads = 1};
    int64_t after = 0;
    double pace = -1;

    (void)state;
    for (; after < 100 && pace < 0; after++) {
        as_alloc_fail_after(after);
        pace = pace_of_nest(&nest);
        as_alloc_fail_after(-1);
        assert_true(pace >= 0 || (int)pace == ASSAY_ERR_NOMEM);
    }
    assert_true(after > 2 && pace > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pace_is_that_of_the_nest),
        cmocka_unit_test(test_entries_that_differ_have_no_pace),
        cmocka_unit_test(test_short_outer_loops_have_no_pace),
        cmocka_unit_test(test_samples_far_apart_have_no_pace),
        cmocka_unit_test(test_no_memory_for_a_pace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
