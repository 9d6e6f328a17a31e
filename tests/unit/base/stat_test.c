/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals, moments and quantiles, held to published tables. */
#include "unit.h"

#include <math.h>

#include "base/stat.h"

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.12g is not %.12g within %g", got, want, tolerance);
}

/* R. G. Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3 (Wilson). */
static void test_wilson_of_newcombe(void **state)
{
    static const struct {
        double r, n, low, high;
    } row[] = {
        {81, 263, 0.2553, 0.3662},
        {15, 148, 0.0624, 0.1605},
        {0, 20, 0.0000, 0.1611},
        {1, 29, 0.0061, 0.1718},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct as_interval it = as_stat_wilson(row[i].r / row[i].n, row[i].n, 0.95);
        near(it.low, row[i].low, 0.5e-4);
        near(it.high, row[i].high, 0.5e-4);
    }
}

static void test_wilson_ends(void **state)
{
    (void)state;
    struct as_interval none = as_stat_wilson(0, 0, 0.95);
    near(none.low, 0, 0);
    near(none.high, 1, 0);
    for (double n = 1; n < 1e9; n *= 10) {
        struct as_interval zero = as_stat_wilson(0, n, 0.95), one = as_stat_wilson(1, n, 0.95);
        near(zero.low, 0, 0);
        near(one.high, 1, 0);
        near(zero.high, 1 - one.low, 1e-12); /* symmetric */
        near(zero.high, 3.841458820694124 / (n + 3.841458820694124), 1e-12);
    }
    struct as_interval wide = as_stat_wilson(0.3, 100, 0.99), thin = as_stat_wilson(0.3, 100, 0.9);
    assert_true(wide.low < thin.low && thin.low < 0.3 && 0.3 < thin.high && thin.high < wide.high);
}

/* The level is kept: of all outcomes of n trials, those whose interval misses the share are rare.
 */
static void test_wilson_covers(void **state)
{
    const double share = 0.2;
    const int n = 200;
    double inside = 0;
    (void)state;
    for (int k = 0; k <= n; k++) {
        struct as_interval it = as_stat_wilson((double)k / n, n, 0.95);
        double log_p = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(share) +
                       (n - k) * log(1 - share);
        if (it.low <= share && share <= it.high)
            inside += exp(log_p);
    }
    near(inside, 0.95, 0.01);
}

/* Abramowitz and Stegun, table 26.5 and 26.6. */
static void test_normal_quantile(void **state)
{
    (void)state;
    near(as_stat_normal_quantile(0.5), 0, 1e-15);
    near(as_stat_normal_quantile(0.975), 1.959963984540054, 1e-13);
    near(as_stat_normal_quantile(0.025), -1.959963984540054, 1e-13);
    near(as_stat_normal_quantile(0.995), 2.575829303548901, 1e-13);
    near(as_stat_normal_quantile(0.9995), 3.290526731491691, 1e-11);
    near(as_stat_normal_quantile(1e-10), -6.361340902404056, 1e-10);
    assert_true(isinf(as_stat_normal_quantile(0)) && as_stat_normal_quantile(0) < 0);
    assert_true(isinf(as_stat_normal_quantile(1)) && as_stat_normal_quantile(1) > 0);
}

/* Abramowitz and Stegun, table 26.10. */
static void test_student_quantile(void **state)
{
    static const struct {
        double freedom, p, t;
    } row[] = {
        {1, 0.975, 12.706},  {2, 0.975, 4.303},    {3, 0.975, 3.182},   {4, 0.995, 4.604},
        {5, 0.95, 2.015},    {9, 0.975, 2.262},    {10, 0.9995, 4.587}, {30, 0.975, 2.042},
        {120, 0.975, 1.980}, {1, 0.9995, 636.619}, {60, 0.9, 1.296},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        near(as_stat_student_quantile(row[i].p, row[i].freedom), row[i].t, 0.00051);
        near(as_stat_student_quantile(1 - row[i].p, row[i].freedom), -row[i].t, 0.00051);
    }
    near(as_stat_student_quantile(0.975, 1), tan(0.475 * M_PI), 1e-9); /* Cauchy */
    near(as_stat_student_quantile(0.975, 1e7), 1.9599639845, 1e-5);
    near(as_stat_student_cdf(0, 7), 0.5, 1e-15);
    near(as_stat_student_cdf(1, 1), 0.75, 1e-14);
}

/* NIST StRD, univariate: NumAcc2 (1001 values 1.2, 1.1, 1.3, ...), exact 1.2 and 0.1. */
static void test_moments(void **state)
{
    struct as_moments all = {0};
    (void)state;
    for (int i = 0; i < 1001; i++) {
        double x = i == 0 ? 1.2 : i % 2 ? 1.1 : 1.3;
        as_moments_add(&all, x);
    }
    near(all.mean, 1.2, 1e-14);
    near(as_moments_deviation(&all), 0.1, 1e-14);
    near(as_moments_standard_error(&all), 0.1 / sqrt(1001), 1e-14);
}

/* NIST StRD NumAcc4: the offset of 1e7 that ruins the textbook formula; exact 10000000.2, 0.1. */
static void test_moments_with_an_offset(void **state)
{
    struct as_moments all = {0};
    (void)state;
    as_moments_add(&all, 10000000.2);
    for (int i = 1; i < 1001; i++)
        as_moments_add(&all, i % 2 ? 10000000.1 : 10000000.3);
    near(all.mean, 10000000.2, 1e-7);
    near(as_moments_deviation(&all), 0.1, 1e-8);
}

static void test_interval_of_a_mean(void **state)
{
    struct as_moments all = {0};
    (void)state;
    assert_true(isinf(as_moments_interval(&all, 0.95).high));
    as_moments_add(&all, 5);
    near(as_moments_deviation(&all), 0, 0);
    assert_true(isinf(as_moments_interval(&all, 0.95).low));
    as_moments_add(&all, 7);
    as_moments_add(&all, 9);
    struct as_interval it = as_moments_interval(&all, 0.95); /* 7 +- 4.3027 * 2 / sqrt 3 */
    near(it.low, 7 - 4.302652729911275 * 2 / sqrt(3), 1e-9);
    near(it.high, 7 + 4.302652729911275 * 2 / sqrt(3), 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wilson_of_newcombe),     cmocka_unit_test(test_wilson_ends),
        cmocka_unit_test(test_wilson_covers),          cmocka_unit_test(test_normal_quantile),
        cmocka_unit_test(test_student_quantile),       cmocka_unit_test(test_moments),
        cmocka_unit_test(test_moments_with_an_offset), cmocka_unit_test(test_interval_of_a_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
