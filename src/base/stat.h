/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics behind each confidence that is shown: binomial intervals of shares, moments of
 * repeated measurements, quantiles of the normal and Student's t distribution. Levels are
 * two-sided: 0.95 leaves 2.5 % on either side. Results depend only on the arguments.
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
 * Returns the score interval of a share that was `share` (0 to 1) in `n` trials. The interval keeps
 * its level for few trials and for shares near 0 and 1. It is 0 to 1 if `n` is not positive. E. B.
 * Wilson, J. Am. Stat. Assoc. 22 (1927) 209.
 */
struct as_interval as_stat_wilson(double share, double n, double level);

/* Running moments. A zeroed struct is empty. B. P. Welford, Technometrics 4 (1962) 419. */
struct as_moments {
    double n, mean;
    double m2; /* sum of squared differences from the mean */
};

void as_moments_add(struct as_moments *moments, double x);
/* Return the sample standard deviation (n - 1) and the standard error of the mean; 0 below two
 * values. */
double as_moments_deviation(const struct as_moments *moments);
double as_moments_standard_error(const struct as_moments *moments);
/* Returns the median of `n` > 0 sorted values. */
double as_median_of_sorted(const double *sorted, size_t n);
/* Returns the interval of the mean by Student's t. The interval is unbounded below two values. */
struct as_interval as_moments_interval(const struct as_moments *moments, double level);

/* Returns x with P(X <= x) = `p`; minus or plus infinity for `p` <= 0 or `p` >= 1. */
double as_stat_normal_quantile(double p);
/* As as_stat_normal_quantile, for Student's t with `freedom` > 0 degrees of freedom, not
 * necessarily an integer. */
double as_stat_student_quantile(double p, double freedom);
double as_stat_student_cdf(double x, double freedom);

#endif
