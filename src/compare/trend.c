/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drift of values in order of time: the test of Mann and Kendall, and the slope of Theil and Sen.
 * Both use only the order of pairs of values, so one outlier neither makes nor hides a drift.
 */
#include <math.h>

#include "base/sort.h"
#include "compare/statistics.h"

/* Maximum number of values for the exact distribution of the statistic. */
#define EXACT_MOST 40

/* Stores the slopes of all pairs. Returns Kendall's S; sets `ties` if two values are equal. */
static double all_pairs(const double *x, size_t n, double *slope, bool *ties)
{
    double s = 0;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i + 1; k < n; k++) {
            s += (x[k] > x[i]) - (x[k] < x[i]);
            *ties |= !(x[k] > x[i]) && !(x[k] < x[i]);
            slope[at++] = (x[k] - x[i]) / (double)(k - i);
        }
    }
    return s;
}

/* Returns the variance of S without a trend. Each group of equal values lowers it. */
static double variance_of_s(const double *x, size_t n)
{
    const double m = (double)n;
    double ties = 0;
    for (size_t i = 0; i < n; i++) {
        double same = 0;
        bool is_first = true;
        for (size_t k = 0; k < n; k++) {
            const bool equal = !(x[k] > x[i]) && !(x[k] < x[i]);
            same += equal;
            is_first = is_first && !(equal && k < i);
        }
        if (is_first)
            ties += same * (same - 1) * (2 * same + 5);
    }
    return (m * (m - 1) * (2 * m + 5) - ties) / 18;
}

/*
 * Returns the probability that |S| of n different values in random order is at least `s`. S is
 * n (n - 1) / 2 minus twice the number of inversions. The loop counts permutations by inversions,
 * inserting one element at a time.
 */
static double tail_exact(double s, size_t n)
{
    double share[EXACT_MOST * (EXACT_MOST - 1) / 2 + 1] = {1};
    size_t most = 0;
    for (size_t m = 2; m <= n; m++) {
        double next[sizeof share / sizeof *share] = {0}, window = 0;
        for (size_t i = 0; i <= most + m - 1; i++) {
            window += i <= most ? share[i] : 0;
            window -= i >= m && i - m <= most ? share[i - m] : 0;
            next[i] = window / (double)m;
        }
        most += m - 1;
        for (size_t i = 0; i <= most; i++)
            share[i] = next[i];
    }
    double p = 0;
    for (size_t i = 0; i <= most; i++)
        if (fabs((double)most - 2 * (double)i) >= fabs(s) - 1e-9)
            p += share[i];
    return p > 1 ? 1 : p;
}

static double tail_normal(double s, double variance)
{
    const double z = s == 0 ? 0 : (fabs(s) - 1) / sqrt(variance);
    return variance > 0 ? erfc(z / sqrt(2)) : 1;
}

/* Returns Sen's interval: it drops slopes at both ends, as many as S varies by chance. */
static struct as_interval slope_interval(const double *slope, size_t pairs, double variance)
{
    const double c = as_stat_normal_quantile(0.5 + AS_STAT_LEVEL / 2) * sqrt(variance);
    const double low = floor(((double)pairs - c) / 2), high = ceil(((double)pairs + c) / 2);
    if (low < 1 || high > (double)pairs - 1)
        return (struct as_interval){-INFINITY, INFINITY};
    return (struct as_interval){slope[(size_t)low - 1], slope[(size_t)high]};
}

void as_trend_of(const double *x, size_t n, double *work, struct as_trend *out)
{
    const size_t pairs = n * (n - 1) / 2;
    bool ties = false;
    const double s = all_pairs(x, n, work, &ties);
    const double variance = variance_of_s(x, n);
    as_sort_doubles(work, pairs);
    out->slope = as_median_of_sorted(work, pairs);
    out->interval = slope_interval(work, pairs, variance);
    out->tau = s / (double)pairs;
    out->p = n <= EXACT_MOST && !ties ? tail_exact(s, n) : tail_normal(s, variance);
}
