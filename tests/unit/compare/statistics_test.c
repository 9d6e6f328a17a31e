/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics against values worked out by hand or taken from tables, and against what they
 * promise: coverage of intervals and rates of false alarms over seeded draws.
 */
#include "synthetic.h"

#include <math.h>

#include "compare/statistics.h"

static void near(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%.9g instead of %.9g", got, want);
}

/* ---- Spread -------------------------------------------------------------------------------- */

static void test_spread(void **state)
{
    (void)state;
    const double x[] = {7, 3, 1, 100, 5, 9, 11};
    double sorted[7];
    struct as_spread spread;
    as_spread_of(x, 7, sorted, &spread);
    near(spread.min, 1, 0);
    near(spread.median, 7, 0);
    near(spread.mean, 136.0 / 7, 1e-12);
    near(spread.max, 100, 0);
    /* Deviations 6 4 2 0 2 4 93: their median is 4. */
    near(spread.robust_deviation, 4 * 1.4826, 1e-3);
    /* Of 7 values the extremes leave 2 / 128 outside, the next pair 16 / 128. */
    near(spread.median_interval.low, 1, 0);
    near(spread.median_interval.high, 100, 0);
    assert_true(as_spread_is_outlier(&spread, 100));
    assert_false(as_spread_is_outlier(&spread, 11));
    const double even[] = {1, 2, 4, 8};
    as_spread_of(even, 4, sorted, &spread);
    near(spread.median, 3, 0);
    near(spread.robust_deviation, 1.5 * 1.4826, 1e-3); /* 1 1 2 5 */
    assert_true(isinf(spread.median_interval.low) && isinf(spread.median_interval.high));
    assert_false(as_spread_is_outlier(&spread, 1000)); /* four are too few */
    const double alike[] = {2, 2, 2, 2, 2, 2, 3};
    as_spread_of(alike, 7, sorted, &spread);
    near(spread.robust_deviation, 1.2533 / 7, 1e-4);
    const double one[] = {5};
    as_spread_of(one, 1, sorted, &spread);
    near(spread.median, 5, 0);
    near(spread.deviation, 0, 0);
    near(as_spread_score(&spread, 6), 0, 0);
}

/* Ranks of the interval of the median: tables of the sign test. */
static void test_median_ranks(void **state)
{
    static const struct {
        size_t n;
        double low, high;
    } at[] = {{6, 1, 6}, {10, 2, 9}, {20, 6, 15}, {31, 10, 22}, {100, 40, 61}};
    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        double x[100], sorted[100];
        struct as_spread spread;
        for (size_t k = 0; k < at[i].n; k++)
            x[k] = (double)(k + 1);
        as_spread_of(x, at[i].n, sorted, &spread);
        near(spread.median_interval.low, at[i].low, 0);
        near(spread.median_interval.high, at[i].high, 0);
    }
}

static void draw(struct noise *noise, double *x, size_t n, double step)
{
    for (size_t i = 0; i < n; i++)
        x[i] = 100 + noise_normal(noise) + step * (double)i;
}

static void test_coverage(void **state)
{
    struct noise noise;
    unsigned covered = 0, outliers = 0, two = 0, drifts = 0;
    const unsigned draws = 4000;
    (void)state;
    noise_seed(&noise, 1);
    for (unsigned d = 0; d < draws; d++) {
        double x[31], sorted[31], work[31 * 15];
        struct as_spread spread;
        struct as_modes modes;
        struct as_trend trend;
        draw(&noise, x, 31, 0);
        as_spread_of(x, 31, sorted, &spread);
        as_modes_of(sorted, 31, &modes);
        as_trend_of(x, 31, work, &trend);
        covered += spread.median_interval.low <= 100 && spread.median_interval.high >= 100;
        for (size_t i = 0; i < 31; i++)
            outliers += as_spread_is_outlier(&spread, x[i]);
        two += modes.two;
        drifts += trend.p <= 0.05;
    }
    printf("# 31 normal values: median covered %.1f %%, outliers %.2f %%, two levels %.2f %%, "
           "drift %.1f %%\n",
           100.0 * covered / draws, 100.0 * outliers / draws / 31, 100.0 * two / draws,
           100.0 * drifts / draws);
    assert_true(covered >= 0.95 * draws);
    assert_true(outliers <= 0.005 * draws * 31);
    assert_true(two <= 0.003 * draws);
    assert_true(drifts <= 0.06 * draws);
}

static void test_modes(void **state)
{
    struct noise noise;
    unsigned found = 0, even = 0, outlier = 0;
    (void)state;
    noise_seed(&noise, 2);
    for (unsigned d = 0; d < 500; d++) {
        double x[31], sorted[31];
        struct as_spread spread;
        struct as_modes modes;
        draw(&noise, x, 31, 0);
        for (size_t i = 0; i < 10; i++)
            x[3 * i] += 8;
        as_spread_of(x, 31, sorted, &spread);
        as_modes_of(sorted, 31, &modes);
        found += modes.two && modes.low_n == 21 && modes.high_n == 10;
        for (size_t i = 0; i < 31; i++)
            x[i] = noise_uniform(&noise);
        as_spread_of(x, 31, sorted, &spread);
        as_modes_of(sorted, 31, &modes);
        even += modes.two;
        draw(&noise, x, 31, 0);
        x[17] += 50;
        as_spread_of(x, 31, sorted, &spread);
        as_modes_of(sorted, 31, &modes);
        outlier += modes.two;
    }
    printf("# two levels found in %u of 500, in evenly spread values %u, beside an outlier %u\n",
           found, even, outlier);
    assert_true(found >= 490);
    assert_true(even <= 40);
    assert_true(outlier <= 5);
}

/* ---- Drift --------------------------------------------------------------------------------- */

static void test_trend(void **state)
{
    (void)state;
    const double up[] = {1, 2, 3, 5, 4};
    double work[780];
    struct as_trend trend;
    as_trend_of(up, 5, work, &trend);
    near(trend.tau, 0.8, 1e-12);
    /* Of 120 orders, one has no inversion and four have one; both ends. */
    near(trend.p, 10.0 / 120, 1e-12);
    near(trend.slope, 1, 1e-12);
    const double flat[] = {3, 3, 3, 3};
    as_trend_of(flat, 4, work, &trend);
    near(trend.p, 1, 0);
    near(trend.slope, 0, 0);
    /* S of 10 values in order is 45: 2 / 10!. */
    double x[40];
    for (size_t i = 0; i < 40; i++)
        x[i] = (double)i * 0.5 + 7;
    as_trend_of(x, 10, work, &trend);
    near(trend.p, 2.0 / 3628800, 1e-15);
    near(trend.slope, 0.5, 1e-12);
    as_trend_of(x, 40, work, &trend);
    assert_true(trend.p < 1e-12 && trend.interval.low <= 0.5 && trend.interval.high >= 0.5);
    x[20] = 1e9; /* one outlier changes nothing */
    as_trend_of(x, 40, work, &trend);
    near(trend.slope, 0.5, 1e-9);
}

/* ---- Differences --------------------------------------------------------------------------- */

static void test_welch(void **state)
{
    (void)state;
    /* Difference 1 of means 10 and 11, variances of means 0.1 and 0.2 at 9 and 9. */
    const struct as_estimate a = {100, 1, 9, 10}, b = {105, 4, 9, 10};
    const struct as_difference d = as_difference_of(&a, &b);
    const double va = 1e-4, vb = 4.0 / 11025, t = log(1.05) / sqrt(va + vb);
    const double freedom = (va + vb) * (va + vb) / (va * va / 9 + vb * vb / 9);
    near(d.ratio, 1.05, 1e-12);
    near(d.p, 2 * as_stat_student_cdf(-t, freedom), 1e-12);
    assert_true(d.interval.low < 1.05 && d.interval.high > 1.05);
    near(d.interval.low * d.interval.high, 1.05 * 1.05, 1e-9);
    /* p and the interval agree. */
    assert_int_equal(d.p<0.05, d.interval.low> 1);
    const struct as_estimate nothing = {0, 0, 9, 10}, single = {5, INFINITY, 1, 1};
    near(as_difference_of(&nothing, &nothing).p, 1, 0);
    near(as_difference_of(&single, &b).p, 1, 0);
    near(as_difference_of(&single, &b).ratio, 21, 1e-12);
    assert_true(as_difference_of(&nothing, &b).p < 1e-6);
    assert_true(isnan(as_difference_of(&nothing, &b).ratio));
    const struct as_estimate exact = {5, 0, 9, 10};
    near(as_difference_of(&exact, &exact).p, 1, 0);
}

static void test_estimates(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4};
    const struct as_estimate runs = as_estimate_runs(x, 4, 0);
    near(runs.mean, 2.5, 1e-12);
    near(runs.variance, 5.0 / 3 / 4, 1e-12);
    near(runs.freedom, 3, 0);
    /* Values that agree are known to the step they come in, not better. */
    const double alike[] = {2, 2, 2};
    near(as_estimate_runs(alike, 3, 0.6).variance, 0.03 / 3, 1e-12);
    const struct as_estimate samples = as_estimate_samples(100, 400, 8);
    near(samples.mean, 2, 1e-12);
    near(samples.variance, 64 * 0.25 * 0.75 / 400, 1e-12);
    assert_true(as_estimate_samples(0, 400, 8).variance > 0);
    assert_true(isinf(as_estimate_samples(0, 0, 0).variance));
}

/* The example of Benjamini and Hochberg's paper: 15 probabilities, four discoveries at 5 %. */
static void test_many(void **state)
{
    (void)state;
    const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                        0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    double adjusted[15];
    size_t order[15], found = 0;
    as_benjamini_hochberg(p, 15, order, adjusted);
    for (size_t i = 0; i < 15; i++)
        found += adjusted[i] <= 0.05;
    assert_int_equal(found, 4);
    near(adjusted[3], 0.0095 * 15 / 4, 1e-12);
    near(adjusted[0], 0.0015, 1e-12);
    near(adjusted[14], 1, 0);
    const double some[] = {NAN, 0.01, NAN, 0.02};
    as_benjamini_hochberg(some, 4, order, adjusted);
    assert_true(isnan(adjusted[0]) && isnan(adjusted[2]));
    near(adjusted[1], 0.02, 1e-12);
    near(adjusted[3], 0.02, 1e-12);
}

static void test_ratio(void **state)
{
    (void)state;
    const struct as_bounded_value a = as_value_measured(8, 6, 10, 5),
                                  b = as_value_measured(2, 1, 4, 7);
    const struct as_bounded_value ratio = as_ratio(a, b);
    near(ratio.value, 4, 1e-12);
    near(ratio.low, 4 * exp(-hypot(log(8.0 / 6), log(2))), 1e-12);
    near(ratio.high, 4 * exp(hypot(log(10.0 / 8), log(2))), 1e-12);
    assert_int_equal(ratio.n, 5);
    const struct as_bounded_value exact = as_ratio(as_value_exact(6, 1), as_value_exact(3, 1));
    near(exact.low, 2, 0);
    near(exact.high, 2, 0);
    const struct as_bounded_value unbounded = as_ratio(as_value_measured(8, 0, INFINITY, 1), b);
    near(unbounded.value, 4, 0);
    near(unbounded.low, 0, 0);
    assert_true(isinf(unbounded.high));
    assert_int_equal(as_ratio(a, as_value_measured(0, 0, 1, 3)).origin, 0);
    assert_int_equal(as_ratio((struct as_bounded_value){0}, a).origin, 0);
    near(as_ratio(as_value_measured(0, 0, 1, 3), a).value, 0, 0);
}

/* Ratios of means of five, in 4000 draws. */
static void test_ratio_coverage(void **state)
{
    struct noise noise;
    unsigned covered = 0, covered_welch = 0;
    const unsigned draws = 4000;
    (void)state;
    noise_seed(&noise, 3);
    for (unsigned d = 0; d < draws; d++) {
        double x[5], y[5];
        struct as_moments m = {0}, k = {0};
        for (size_t i = 0; i < 5; i++) {
            as_moments_add(&m, x[i] = 100 + 5 * noise_normal(&noise));
            as_moments_add(&k, y[i] = 50 + noise_normal(&noise));
        }
        const struct as_interval im = as_moments_interval(&m, 0.95),
                                 ik = as_moments_interval(&k, 0.95);
        const struct as_bounded_value r = as_ratio(as_value_measured(m.mean, im.low, im.high, 5),
                                                   as_value_measured(k.mean, ik.low, ik.high, 5));
        covered += r.low <= 2 && r.high >= 2;
        const struct as_estimate a = as_estimate_runs(y, 5, 0), b = as_estimate_runs(x, 5, 0);
        const struct as_difference w = as_difference_of(&a, &b);
        covered_welch += w.interval.low <= 2 && w.interval.high >= 2;
    }
    printf("# ratio of means of 5: covered %.1f %% (MOVER), %.1f %% (Welch)\n",
           100.0 * covered / draws, 100.0 * covered_welch / draws);
    assert_true(covered >= 0.94 * draws);
    assert_true(covered_welch >= 0.94 * draws && covered_welch <= 0.97 * draws);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spread),    cmocka_unit_test(test_median_ranks),
        cmocka_unit_test(test_coverage),  cmocka_unit_test(test_modes),
        cmocka_unit_test(test_trend),     cmocka_unit_test(test_welch),
        cmocka_unit_test(test_estimates), cmocka_unit_test(test_many),
        cmocka_unit_test(test_ratio),     cmocka_unit_test(test_ratio_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
