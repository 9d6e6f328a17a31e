/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics behind every confidence that is shown: binomial intervals of shares, moments of
 * repeated measurements, quantiles of the normal and Student's t distribution. Two-sided levels:
 * 0.95 leaves 2.5 % on either side. Pure functions of their arguments.
 */
#ifndef AS_BASE_STAT_H
#define AS_BASE_STAT_H

#include <stddef.h>
#include <stdint.h>

/* The level of every interval that is stored or shown. */
#define AS_STAT_LEVEL 0.95

struct as_interval {
    double low, high;
};

/*
 * Interval of a share of which `share` (0 to 1) was seen in `n` trials: the score interval, which
 * holds its level for few trials and for shares near 0 and 1 too. 0..1 when `n` is not positive.
 * E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209.
 */
struct as_interval as_stat_wilson(double share, double n, double level);

/* Running moments: zero-initialised is empty. B. P. Welford, Technometrics 4 (1962) 419. */
struct as_moments {
    double n, mean;
    double m2; /* sum of squared differences from the mean */
};

void as_moments_add(struct as_moments *moments, double x);
/* Sample standard deviation (n - 1), and that of the mean; 0 below two values. */
double as_moments_deviation(const struct as_moments *moments);
double as_moments_standard_error(const struct as_moments *moments);
/* Middle of `n` > 0 sorted values. */
double as_median_of_sorted(const double *sorted, size_t n);
/* Interval of the mean by Student's t; unbounded below two values. */
struct as_interval as_moments_interval(const struct as_moments *moments, double level);

/* x with P(X <= x) = `p`, 0 < p < 1; infinite at and beyond the ends. */
double as_stat_normal_quantile(double p);
/* As above for Student's t with `freedom` > 0 degrees of freedom, not necessarily whole. */
double as_stat_student_quantile(double p, double freedom);
double as_stat_student_cdf(double x, double freedom);

#endif
