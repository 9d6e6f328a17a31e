/* SPDX-License-Identifier: Apache-2.0 */
/* Rates and disagreements of loops with made-up facts, and the flags of a run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trust/agree.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static struct as_trust_loop unknown_loop(void)
{
    struct as_trust_loop it = {.time_ns = 0};
    for (int i = 0; i < AS_TRUST_FACTS_N; i++)
        it.fact[i] = (double)NAN;
    return it;
}

/* 1000 instances of 100 iterations, 2 flops and 16 + 8 bytes each, 3 cycles where 2 are modelled.
 */
static struct as_trust_loop known_loop(void)
{
    struct as_trust_loop it = unknown_loop();
    it.time_ns = 50000;
    it.own_ns = 40000;
    it.fact[AS_TRUST_ITERATIONS] = 101000;
    it.fact[AS_TRUST_STARTS] = 100000;
    it.fact[AS_TRUST_TRIPS] = 101;
    it.fact[AS_TRUST_MEDIAN] = 3;
    it.fact[AS_TRUST_MEAN] = 4;
    it.fact[AS_TRUST_STABILITY] = 0.25;
    it.fact[AS_TRUST_INSTANCE] = 1000;
    it.fact[AS_TRUST_MODEL] = 2;
    it.fact[AS_TRUST_FLOPS] = 200000;
    it.fact[AS_TRUST_LOAD_B] = 1600000;
    it.fact[AS_TRUST_STORE_B] = 800000;
    return it;
}

static void test_rates(void **state)
{
    (void)state;
    struct as_trust_loop loop = known_loop();
    double value[AS_TRUST_LOOP_VALUES_N];
    as_trust_values(&loop, 32768, value);
    NEAR(value[AS_TRUST_GFLOPS], 4);
    NEAR(value[AS_TRUST_BYTES_PER_CYCLE], 6);
    NEAR(value[AS_TRUST_RATIO], 1.5);
    NEAR(value[AS_TRUST_LEAST_RATIO], 1.2);
    NEAR(value[AS_TRUST_TOUCHED_B], 24 * 101);
    assert_true(value[AS_TRUST_FITS] == 1);
    NEAR(value[AS_TRUST_TRIPS_ERROR_PCT], 1);
    as_trust_values(&loop, 2000, value);
    assert_true(value[AS_TRUST_FITS] == 0);
    loop.fact[AS_TRUST_INSTANCE] = 999; /* the clock decides */
    as_trust_values(&loop, 32768, value);
    assert_true(isnan(value[AS_TRUST_RATIO]) && isnan(value[AS_TRUST_LEAST_RATIO]));
    assert_true(isnan(value[AS_TRUST_BYTES_PER_CYCLE]) && value[AS_TRUST_FITS] == 1);
    loop.is_exact = true; /* there is nothing to be wrong */
    as_trust_values(&loop, 32768, value);
    assert_true(isnan(value[AS_TRUST_TRIPS_ERROR_PCT]));
}

/* Unknown values yield no results; bytes of the code stand in for counted ones. */
static void test_unknown(void **state)
{
    (void)state;
    struct as_trust_loop loop = unknown_loop();
    double value[AS_TRUST_LOOP_VALUES_N];
    as_trust_values(&loop, 32768, value);
    for (int i = 0; i < AS_TRUST_LOOP_VALUES_N; i++)
        assert_true(isnan(value[i]));
    loop.fact[AS_TRUST_TRIPS] = 10;
    loop.fact[AS_TRUST_MODEL_LOAD_B] = 32;
    loop.fact[AS_TRUST_MODEL_STORE_B] = 0;
    as_trust_values(&loop, 32768, value);
    NEAR(value[AS_TRUST_TOUCHED_B], 320);
    assert_true(value[AS_TRUST_FITS] == 1);
    as_trust_values(&loop, 0, value);
    assert_true(isnan(value[AS_TRUST_FITS]));
}

/* Below what its recurrence takes; not where that is of several paths, or of a short instance. */
static void test_below_chain(void **state)
{
    (void)state;
    struct as_trust_loop loop = known_loop();
    assert_false(as_trust_is_below_chain(&loop)); /* nothing is known of one */
    loop.fact[AS_TRUST_CHAIN] = 6;
    assert_false(as_trust_is_below_chain(&loop));
    loop.fact[AS_TRUST_PATHS] = 1;
    assert_true(as_trust_is_below_chain(&loop));
    loop.fact[AS_TRUST_CHAIN] = 3.1;
    assert_false(as_trust_is_below_chain(&loop));
    loop.fact[AS_TRUST_CHAIN] = 6;
    loop.fact[AS_TRUST_PATHS] = 2;
    assert_false(as_trust_is_below_chain(&loop));
    loop.fact[AS_TRUST_PATHS] = 1;
    loop.fact[AS_TRUST_INSTANCE] = 999;
    assert_false(as_trust_is_below_chain(&loop));
}

/* 101,000 iterations of 4 cycles in the mean at 2 GHz are 202 us. */
static void test_times(void **state)
{
    (void)state;
    struct as_trust_loop loop = known_loop();
    double sampled_ns, timed_ns;
    assert_false(as_trust_times_differ(&loop, 1000, &sampled_ns, &timed_ns)); /* no clock */
    loop.fact[AS_TRUST_NS] = 1.5;
    loop.fact[AS_TRUST_CALLS] = 0;
    loop.time_ns = loop.own_ns = 202000;
    assert_false(as_trust_times_differ(&loop, 1000, &sampled_ns, &timed_ns));
    NEAR(sampled_ns, 2);
    NEAR(timed_ns, 2);
    loop.time_ns = 2 * 202000.;
    assert_true(as_trust_times_differ(&loop, 1000, &sampled_ns, &timed_ns));
    assert_false(as_trust_times_differ(&loop, 10, &sampled_ns, &timed_ns)); /* too few samples */
    assert_false(as_trust_times_differ(&loop, 0, &sampled_ns, &timed_ns));
    loop.time_ns = loop.own_ns = 202000. / 2;
    assert_true(as_trust_times_differ(&loop, 1000, &sampled_ns, &timed_ns));
    loop.fact[AS_TRUST_CALLS] = 1; /* what it calls has the rest */
    assert_false(as_trust_times_differ(&loop, 1000, &sampled_ns, &timed_ns));
}

/* Only loops with data that fit judge the model, each by its time. */
static void test_sums(void **state)
{
    (void)state;
    const struct {
        double ratio, fits, own_ns;
    } given[] = {{1.5, 1, 100}, {0.9, 1, 300}, {9, 0, 1000}, {5, (double)NAN, 1000}};
    struct as_trust_sums sums = {0};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct as_trust_loop loop = unknown_loop();
        double value[AS_TRUST_LOOP_VALUES_N];
        as_trust_values(&loop, 32768, value);
        value[AS_TRUST_RATIO] = given[i].ratio;
        value[AS_TRUST_FITS] = given[i].fits;
        value[AS_TRUST_TRIPS_ERROR_PCT] = i < 2 ? 4. * (double)i - 1 : (double)NAN;
        loop.own_ns = given[i].own_ns;
        as_trust_add(&sums, &loop, value);
    }
    assert_int_equal(sums.model_n, 2);
    NEAR(sums.model / sums.weight, (100 * 0.5 + 300 * 0.1) / 400);
    NEAR(sums.bias / sums.weight, (100 * 0.5 - 300 * 0.1) / 400);
    assert_int_equal(sums.trips_n, 2);
    NEAR(sums.trips, 1 + 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates), cmocka_unit_test(test_unknown), cmocka_unit_test(test_sums),
        cmocka_unit_test(test_below_chain), cmocka_unit_test(test_times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
