/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences of two means by Welch's test on their logarithms, correction for multiple tests, and
 * ratios of quantities with intervals.
 */
#include <math.h>
#include <stdlib.h>

#include "compare/statistics.h"

/* With more degrees of freedom the normal distribution replaces Student's. */
#define FREEDOM_NORMAL 1e6

struct as_estimate as_estimate_runs(const double *x, size_t n, double quantum)
{
    struct as_moments moments = {0};
    for (size_t i = 0; i < n; i++)
        as_moments_add(&moments, x[i]);
    if (n < 2)
        return (struct as_estimate){moments.mean, INFINITY, 1, (int64_t)n};
    const double deviation = as_moments_deviation(&moments);
    /* The variance of rounding to a step is a twelfth of its square (Sheppard). */
    const double variance = fmax(deviation * deviation, quantum * quantum / 12);
    return (struct as_estimate){moments.mean, variance / (double)n, (double)(n - 1), (int64_t)n};
}

struct as_estimate as_estimate_samples(int64_t part, int64_t whole, double whole_s)
{
    const double n = (double)whole;
    if (whole < 1)
        return (struct as_estimate){0, INFINITY, INFINITY, 0};
    /* Zero samples do not prove zero time: the variance is that of one sample. */
    const double share = fmin((double)(part > 0 ? part : 1) / n, 1);
    const double mean = whole_s * (double)part / n;
    return (struct as_estimate){mean, whole_s * whole_s * share * fmax(1 - share, 0) / n, INFINITY,
                                part};
}

/* Returns the degrees of freedom of a sum of two variances (Welch and Satterthwaite). */
static double joined_freedom(double va, double fa, double vb, double fb)
{
    const double spread = va * va / fa + vb * vb / fb;
    return spread > 0 ? (va + vb) * (va + vb) / spread : INFINITY;
}

static double two_sided(double t, double freedom)
{
    if (isnan(t))
        return 1;
    if (freedom > FREEDOM_NORMAL)
        return erfc(fabs(t) / sqrt(2));
    return 2 * as_stat_student_cdf(-fabs(t), freedom);
}

static double quantile_of(double freedom)
{
    const double p = 0.5 + AS_STAT_LEVEL / 2;
    return freedom > FREEDOM_NORMAL ? as_stat_normal_quantile(p)
                                    : as_stat_student_quantile(p, freedom);
}

/* Difference of the logarithms of two means, or of the means if one is zero. */
struct welch {
    bool is_log, is_known;
    double difference, variance, freedom;
};

static struct welch welch_of(const struct as_estimate *a, const struct as_estimate *b)
{
    struct welch it = {.is_log = a->mean > 0 && b->mean > 0,
                       .is_known = !isinf(a->variance) && !isinf(b->variance)};
    const double scale_a = it.is_log ? a->mean : 1, scale_b = it.is_log ? b->mean : 1;
    const double va = a->variance / (scale_a * scale_a), vb = b->variance / (scale_b * scale_b);
    it.difference = it.is_log ? log(b->mean / a->mean) : b->mean - a->mean;
    it.variance = va + vb;
    it.freedom = joined_freedom(va, a->freedom, vb, b->freedom);
    return it;
}

static double probability(const struct welch *it)
{
    if (!it->is_known)
        return 1;
    if (!(it->variance > 0)) /* both means are exact */
        return it->difference == 0 ? 1 : 0;
    return two_sided(it->difference / sqrt(it->variance), it->freedom);
}

struct as_difference as_difference_of(const struct as_estimate *a, const struct as_estimate *b)
{
    const struct welch it = welch_of(a, b);
    struct as_difference out = {
        a->mean > 0 ? b->mean / a->mean : NAN, {0, INFINITY}, probability(&it)};
    if (it.is_known && it.is_log) {
        const double half = it.variance > 0 ? quantile_of(it.freedom) * sqrt(it.variance) : 0;
        out.interval = (struct as_interval){out.ratio * exp(-half), out.ratio * exp(half)};
    }
    return out;
}

/* ---- Multiple tests ------------------------------------------------------------------------ */

static int by_probability(const void *a, const void *b, void *context)
{
    const double *p = context;
    const size_t i = *(const size_t *)a, k = *(const size_t *)b;
    return p[i] != p[k] ? (p[i] > p[k]) - (p[i] < p[k]) : (i > k) - (i < k);
}

void as_benjamini_hochberg(const double *p, size_t n, size_t *order, double *adjusted)
{
    size_t m = 0;
    double least = 1;
    for (size_t i = 0; i < n; i++) {
        adjusted[i] = NAN;
        if (!isnan(p[i]))
            order[m++] = i;
    }
    qsort_r(order, m, sizeof *order, by_probability, (void *)(uintptr_t)p);
    for (size_t rank = m; rank > 0; rank--) {
        const size_t i = order[rank - 1];
        least = fmin(least, p[i] * (double)m / (double)rank);
        adjusted[i] = least;
    }
}

/* ---- Quantities ---------------------------------------------------------------------------- */

struct as_bounded_value as_ratio(struct as_bounded_value a, struct as_bounded_value b)
{
    const int64_t n = a.n < b.n ? a.n : b.n;
    if (!a.origin || !b.origin || !(b.value > 0) || a.value < 0)
        return (struct as_bounded_value){0};
    const double ratio = a.value / b.value;
    if (!(a.value > 0))
        return as_value_derived(0, 0, b.low > 0 ? a.high / b.low : INFINITY, n);
    const double a_low = a.low > 0 ? log(a.value / a.low) : INFINITY;
    const double b_low = b.low > 0 ? log(b.value / b.low) : INFINITY;
    const double a_high = log(a.high / a.value), b_high = log(b.high / b.value);
    return as_value_derived(ratio, ratio * exp(-hypot(a_low, b_high)),
                            ratio * exp(hypot(a_high, b_low)), n);
}

struct as_bounded_value as_times(struct as_bounded_value x, double factor)
{
    if (!x.origin)
        return x;
    return as_value_derived(x.value * factor, x.low * factor, x.high * factor, x.n);
}
