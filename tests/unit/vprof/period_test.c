/* SPDX-License-Identifier: Apache-2.0 */
/* The period of timing: a program of 1 s, with loops of given numbers of instances. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vprof/period.h"

static struct as_period of_loop(const struct as_period_loop *loop, double pilot)
{
    return (struct as_period){.loop = loop,
                              .n = 1,
                              .passed_ns = 0.5,
                              .timed_ns = 40,
                              .run_ns = 1e9,
                              .pilot_every = 1000,
                              .pilot = pilot,
                              .most = 0.05};
}

/* 10,000 instances take 0.4 ms, and half as much that calibration does not see. */
static void test_all(void **state)
{
    (void)state;
    const struct as_period_loop loop = {.instances = 10000};
    const struct as_period it = of_loop(&loop, 0.2);
    assert_int_equal(as_period_choose(&it), 1);
    assert_true(fabs(as_period_cost(&it, 1) - 6e-4) < 1e-9);
}

/* 10 million: 5 ms to pass them, 600 ms to time all. */
static void test_some(void **state)
{
    (void)state;
    const struct as_period_loop loop = {.instances = 1e7};
    const struct as_period it = of_loop(&loop, -1);
    const uint32_t every = as_period_choose(&it);
    assert_true(fabs(as_period_cost(&it, 100) - (0.005 + 0.006)) < 1e-9);
    assert_true(every >= 14 && every <= 18);
    assert_true(as_period_cost(&it, every) <= 0.05);
}

/* If the pilot takes longer than calibrated, less time is left for timing, but never none. */
static void test_pilot(void **state)
{
    (void)state;
    const struct as_period_loop loop = {.instances = 1e7};
    struct as_period it = of_loop(&loop, 0.03);
    const uint32_t every = as_period_choose(&it);
    assert_true(every >= 30 && every <= 40);
    it.pilot = 0.4;
    assert_true(as_period_choose(&it) < 80);
    it.pilot = 0.001; /* less than the instructions themselves take */
    assert_true(as_period_choose(&it) <= 18);
}

/* An entry of each thread is timed in any case: no period helps. */
static void test_least(void **state)
{
    (void)state;
    const struct as_period_loop loop = {.instances = 1e7, .least = 0.5};
    const struct as_period it = of_loop(&loop, -1);
    assert_int_equal(as_period_choose(&it), 1000);
    const struct as_period_loop once = {.instances = 1e6, .least = 0.5};
    const struct as_period seen = of_loop(&once, 0.04); /* 0.03 of it is that */
    assert_true(fabs(as_period_cost(&seen, 1000) - 0.04) < 1e-9);
}

/* The run was dearer than granted: what it took tells what a reading takes in this program. */
static void test_again(void **state)
{
    (void)state;
    const struct as_period_loop loop = {.instances = 1e7};
    struct as_period it = of_loop(&loop, -1);
    const uint32_t before = as_period_choose(&it);
    const double passed = 0.005, each_ns = 160; /* four times what was calibrated */
    it.fences = as_period_fences(&it, before, passed + 1e7 / before * each_ns / 1e9);
    assert_true(fabs(it.fences - 4) < 1e-6);
    const uint32_t every = as_period_choose(&it);
    assert_true(every > before && passed + 1e7 / every * each_ns / 1e9 <= 0.05);
    it.fences = 0;
    assert_true(fabs(as_period_fences(&it, before, 0.01) - 1.5) < 1e-9); /* never less */
    assert_true(as_period_fences(&it, before, 1e3) <= 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_some),
                                       cmocka_unit_test(test_pilot), cmocka_unit_test(test_least),
                                       cmocka_unit_test(test_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
