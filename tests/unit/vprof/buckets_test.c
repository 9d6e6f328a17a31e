/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets of instances with values known by construction. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vprof/buckets.h"

static struct as_instance instance(double trips, double ticks)
{
    static uint64_t begun;
    return (struct as_instance){.begun = begun++, .ticks = ticks, .trips = trips};
}

/* 100 of 64 iterations and 50 of 1000, mixed: two buckets, shares by their ticks. */
static void test_iterations(void **state)
{
    (void)state;
    struct as_instance it[150];
    as_bucket_list list = {0};
    for (size_t i = 0; i < 150; i++)
        it[i] = i % 3 == 2 ? instance(1000, 4000 + (double)i) : instance(64, 64);
    assert_int_equal(as_buckets_make(it, 150, AS_BUCKET_ITERATIONS, &list, NULL), 0);
    assert_int_equal(list.n, 2);
    assert_int_equal(list.at[0].n, 100);
    assert_int_equal(list.at[1].n, 50);
    assert_true(list.at[0].low == 64 && list.at[0].high == 128);
    assert_true(list.at[1].low == 512 && list.at[1].high == 1024);
    assert_true(list.at[0].iteration.median == 1 && list.at[0].iteration.stability == 0);
    assert_true(list.at[1].instance.least == 4002 && list.at[1].instance.median == 4075.5);
    assert_true(fabs(list.at[1].instance.stability - 73.5 / 4002) < 1e-12);
    assert_true(fabs(list.at[0].share - 6400.0 / (6400 + 50 * 4075.5)) < 1e-12);
    assert_true(fabs(list.at[0].share + list.at[1].share - 1) < 1e-12);
    assert_true(list.at[1].iterations == 1000);
    as_vec_fini(&list);
}

/* Of 64 iterations at 1 tick each, 4 and 16, mixed: three buckets of as many iterations. */
static void test_groups(void **state)
{
    (void)state;
    struct as_instance it[300];
    as_bucket_list list = {0};
    for (size_t i = 0; i < 300; i++)
        it[i] = instance(64, 64 * (double)(1 << 2 * (i % 3)) * (1 + (double)(i % 7) / 100));
    assert_int_equal(as_buckets_make(it, 300, AS_BUCKET_ITERATIONS, &list, NULL), 0);
    assert_int_equal(list.n, 3);
    for (size_t b = 0; b < 3; b++) {
        const double cost = (double)(1 << 2 * b);
        assert_int_equal(list.at[b].n, 100);
        assert_true(list.at[b].is_split && list.at[b].low == 64 && list.at[b].high == 128);
        assert_true(list.at[b].cost_low == cost && fabs(list.at[b].cost_high / cost - 1.06) < 1e-9);
    }
    as_vec_fini(&list);
}

/* One group: even between 1 and 2 ticks; a tail; two that are near; two of which one is rare. */
static void test_one_group(void **state)
{
    (void)state;
    double even[400], tail[400], near[400], rare[400];
    for (size_t i = 0; i < 400; i++) {
        const double at = ((double)i + 0.5) / 400;
        even[i] = 1 + at;
        tail[i] = 1 - log(1 - at); /* exponential */
        near[i] = i < 200 ? 1 + at / 100 : 1.2 + at / 100;
        rare[i] = i < 393 ? 1 + at / 100 : 4;
    }
    assert_int_equal(as_costs_split(even, 400), 0);
    assert_int_equal(as_costs_split(tail, 400), 0);
    assert_int_equal(as_costs_split(near, 400), 0);
    assert_int_equal(as_costs_split(rare, 400), 0);
    assert_int_equal(as_costs_split(even, 0), 0);
    assert_int_equal(as_costs_split(even, 1), 0);
}

/* The same iterations, at 1 and at 8 ticks each: two buckets by cost, and 31 that stand for each,
 * the cheapest and the dearest among them. */
static void test_cost(void **state)
{
    (void)state;
    struct as_instance it[200];
    as_bucket_list list = {0};
    for (size_t i = 0; i < 200; i++)
        it[i] = instance(1000, i % 2 ? 1000 + (double)i : 8000 + (double)i);
    assert_int_equal(as_buckets_make(it, 200, AS_BUCKET_COST, &list, NULL), 0);
    assert_int_equal(list.n, 2);
    for (size_t b = 0; b < 2; b++) {
        const struct as_bucket *one = &list.at[b];
        assert_int_equal(one->n, 100);
        assert_int_equal(one->chosen_n, AS_BUCKET_CHOSEN_N);
        assert_int_equal(one->chosen[0], one->first);
        assert_int_equal(one->chosen[AS_BUCKET_CHOSEN_N - 1], one->first + 99);
        for (size_t i = 1; i < one->chosen_n; i++)
            assert_true(one->chosen[i] > one->chosen[i - 1] &&
                        it[one->chosen[i]].ticks >= it[one->chosen[i - 1]].ticks);
    }
    assert_true(list.at[0].iteration.least == 1.001);
    assert_true(list.at[1].iteration.least == 8);
    as_vec_fini(&list);
}

/* Overhead is taken away once an instance; what was disturbed is left out, what is merely longer
 * because it has more iterations is not. */
static void test_clean(void **state)
{
    (void)state;
    struct as_instance it[103];
    struct as_bucket all;
    for (size_t i = 0; i < 100; i++)
        it[i] = instance(10, 130);
    it[100] = instance(10, 1000030); /* disturbed */
    it[101] = instance(10, 700);     /* long, but not by the limit */
    it[102] = instance(100000, 2000030);
    assert_int_equal(as_instances_clean(it, 103, 30, 50000), 102);
    assert_true(it[102].ticks == 1000000);
    as_bucket_all(it, 102, &all);
    assert_int_equal(all.n, 102);
    assert_true(all.instance.least == 100 && all.instance.median == 100);
    assert_true(all.iteration.median == 10);
}

/* Instances in which the thread lost its CPU are left out if others with as many iterations ran
 * through. If none did, length decides. */
static void test_away(void **state)
{
    (void)state;
    struct as_instance it[60];
    for (size_t i = 0; i < 20; i++) { /* 5 ran through */
        it[i] = instance(10, i % 4 ? 900 : 100);
        it[i].switched = i % 4 != 0;
    }
    for (size_t i = 20; i < 40; i++) { /* none did, and one took very long */
        it[i] = instance(1000, i == 30 ? 9e6 : 5000);
        it[i].faulted = true;
    }
    for (size_t i = 40; i < 60; i++)
        it[i] = instance(100000, 1e6);
    assert_int_equal(as_instances_clean(it, 60, 0, 50000), 5 + 19 + 20);
    for (size_t i = 0; i < 44; i++)
        assert_true(it[i].trips > 10 ? it[i].ticks < 9e6 : it[i].ticks == 100);
}

/* Instances have no time off the CPU. One that hardly ran does not count. */
static void test_time_away(void **state)
{
    (void)state;
    struct as_instance it[3];
    for (size_t i = 0; i < 3; i++)
        it[i] = instance(1000, 5000);
    it[0].switched = it[1].switched = true;
    it[0].away_ns = 2480; /* 4960 ticks of half a nanosecond */
    it[1].away_ns = 1500;
    assert_int_equal(as_instances_run(it, 3, 0.5), 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(it[i].ticks == (it[i].switched ? 2000 : 5000));
}

static void test_unknown(void **state)
{
    (void)state;
    struct as_instance it[3] = {instance((double)NAN, 10), instance(0, 10), instance(1, 20)};
    as_bucket_list list = {0};
    struct as_bucket all;
    assert_int_equal(as_buckets_make(it, 3, AS_BUCKET_ITERATIONS, &list, NULL), 0);
    assert_int_equal(list.n, 2);
    assert_true(list.at[0].low == 0 && list.at[0].high == 1 && list.at[0].n == 1);
    /* One instance does not make a distribution. */
    assert_true(isnan(list.at[0].iteration.deviation) && isnan(list.at[0].iteration.stability));
    assert_true(isnan(list.at[0].instance.deviation) && isnan(list.at[0].instance.stability));
    assert_true(list.at[1].low == 1 && list.at[1].iteration.median == 20);
    as_bucket_all(it, 3, &all);
    assert_int_equal(all.n, 3);
    as_bucket_all(it, 0, &all);
    assert_int_equal(all.n, 0);
    as_vec_fini(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iterations), cmocka_unit_test(test_groups),
        cmocka_unit_test(test_one_group),  cmocka_unit_test(test_cost),
        cmocka_unit_test(test_clean),      cmocka_unit_test(test_away),
        cmocka_unit_test(test_time_away),  cmocka_unit_test(test_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
