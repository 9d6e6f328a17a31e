/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intervals, moments and quantiles. Quantiles invert the distribution function by bisection, so
 * they are as exact as this function. Each is needed at most once per object. The t distribution is
 * the incomplete beta function (Abramowitz and Stegun 26.7.1, 26.5.8, by the method of Lentz).
 */
#include "base/stat.h"

#include <math.h>

/* ---- Distributions ----------------------------------------------------------------------- */

static double normal_cdf(double x, double unused)
{
    (void)unused;
    return 0.5 * erfc(-x / sqrt(2));
}

/* Continued fraction of the incomplete beta function, for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), f;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    f = d;
    for (int m = 1; m < 10000; m++) {
        double step = 1;

        for (int odd = 0; odd < 2; odd++) {
            const double term = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                                    : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));

            d = 1 + term * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + term / c;
            c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            f *= step;
        }
        if (fabs(step - 1) < 1e-16)
            break;
    }
    return f;
}

/* lgamma(3) without the global variable `signgam`. */
static double log_gamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

/* Returns the regularised incomplete beta function. `y` is 1 - x, passed separately because it may
 * be tiny. */
static double beta(double x, double y, double a, double b)
{
    double front;

    if (x <= 0 || y <= 0)
        return x <= 0 ? 0 : 1;
    front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(y, b, a) / b;
}

double as_stat_student_cdf(double x, double freedom)
{
    const double whole = freedom + x * x;
    double tail;

    if (isinf(x))
        return x < 0 ? 0 : 1;
    tail = 0.5 * beta(freedom / whole, x * x / whole, freedom / 2, 0.5);
    return x < 0 ? tail : 1 - tail;
}

/* Returns x with cdf(x) = p for p <= 1/2. A small p keeps its digits in this half. */
static double lower_quantile(double (*cdf)(double, double), double p, double freedom)
{
    double low = -1, high = 0;

    while (cdf(low, freedom) > p && low > -1e300)
        low *= 2;
    for (int i = 0; i < 2000; i++) {
        const double middle = low + (high - low) / 2;

        if (middle <= low || middle >= high)
            break;
        if (cdf(middle, freedom) < p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double quantile(double (*cdf)(double, double), double p, double freedom)
{
    if (isnan(p))
        return p;
    if (p <= 0 || p >= 1)
        return p <= 0 ? -INFINITY : INFINITY;
    return p <= 0.5 ? lower_quantile(cdf, p, freedom) : -lower_quantile(cdf, 1 - p, freedom);
}

double as_median_of_sorted(const double *sorted, size_t n)
{
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double as_stat_normal_quantile(double p)
{
    return quantile(normal_cdf, p, 0);
}

double as_stat_student_quantile(double p, double freedom)
{
    return quantile(as_stat_student_cdf, p, freedom);
}

/* ---- Intervals --------------------------------------------------------------------------- */

/* Returns the normal quantile of a two-sided level. The most common value is a constant. */
static double normal_of_level(double level)
{
    if (level == 0.95)
        return 1.9599639845400545;
    return as_stat_normal_quantile(0.5 + level / 2);
}

struct as_interval as_stat_wilson(double share, double n, double level)
{
    const double z = normal_of_level(level);
    double middle, half, divisor;

    if (!(n > 0))
        return (struct as_interval){0, 1};
    divisor = 1 + z * z / n;
    middle = (share + z * z / (2 * n)) / divisor;
    half = z / divisor * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    /* Rounding must not move the ends beyond the observed share. */
    return (struct as_interval){
        share <= 0 ? 0 : fmin(fmax(middle - half, 0), share),
        share >= 1 ? 1 : fmax(fmin(middle + half, 1), share),
    };
}

/* ---- Moments ----------------------------------------------------------------------------- */

void as_moments_add(struct as_moments *moments, double x)
{
    const double before = x - moments->mean;

    moments->n += 1;
    moments->mean += before / moments->n;
    moments->m2 += before * (x - moments->mean);
}

double as_moments_deviation(const struct as_moments *moments)
{
    return moments->n < 2 ? 0 : sqrt(moments->m2 / (moments->n - 1));
}

double as_moments_standard_error(const struct as_moments *moments)
{
    return moments->n < 2 ? 0 : as_moments_deviation(moments) / sqrt(moments->n);
}

struct as_interval as_moments_interval(const struct as_moments *moments, double level)
{
    double half;

    if (moments->n < 2)
        return (struct as_interval){-INFINITY, INFINITY};
    half = as_stat_student_quantile(0.5 + level / 2, moments->n - 1) *
           as_moments_standard_error(moments);
    return (struct as_interval){moments->mean - half, moments->mean + half};
}
