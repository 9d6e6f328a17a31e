/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of repeated and of compared measurements: spread, outliers, drift, two levels,
 * differences and their significance among many. Pure functions over arrays: they know neither
 * experiments nor what was measured. Sources of all formulas: doc/internals/compare.md.
 */
#ifndef AS_COMPARE_STATISTICS_H
#define AS_COMPARE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stat.h"
#include "experiment/experiment.h"

/* ---- Spread of repetitions ---------------------------------------------------------------- */

/* A value farther from the median than this many robust deviations is an outlier. */
#define AS_OUTLIER_SCORE 3.5
/* With fewer values no value is an outlier. */
#define AS_OUTLIER_FEWEST 5

struct as_spread {
    size_t n;
    double min, median, mean, max;
    double deviation;                   /* standard, n - 1 */
    struct as_interval mean_interval;   /* Student's t */
    struct as_interval median_interval; /* order statistics; infinite below six values */
    double robust_deviation; /* 1.4826 MAD, or 1.2533 times the mean one where MAD is zero */
};

/* Computes the spread of `n` >= 1 values. `sorted` receives the values in ascending order. */
void as_spread_of(const double *x, size_t n, double *sorted, struct as_spread *out);
/* Returns the signed distance from the median in robust deviations; 0 if all values are equal. */
double as_spread_score(const struct as_spread *spread, double x);
/* Returns true if `x`, one of the values, is an outlier. */
bool as_spread_is_outlier(const struct as_spread *spread, double x);

/* The best split of values in two groups, if it explains more than chance does. */
struct as_modes {
    bool two;
    double low_mean, high_mean;
    size_t low_n, high_n;
    double explained; /* share of the squared deviations that the split explains */
};

/* Minimum number of values for a verdict on two groups. */
#define AS_MODES_FEWEST 10
void as_modes_of(const double *sorted, size_t n, struct as_modes *out);

/* ---- Drift -------------------------------------------------------------------------------- */

struct as_trend {
    double slope;                /* change from one value to the next (Theil-Sen) */
    struct as_interval interval; /* of the slope, 95 % (Sen); infinite where there are too few */
    double tau;                  /* Kendall's tau: -1 to 1 */
    double p;                    /* two-sided p-value of Mann and Kendall's test for a trend */
};

/* Tests `n` >= 2 values in order of time. `work` has space for n (n - 1) / 2 numbers. */
void as_trend_of(const double *x, size_t n, double *work, struct as_trend *out);

/* ---- Differences -------------------------------------------------------------------------- */

/* A mean with the variance of the mean. */
struct as_estimate {
    double mean, variance;
    double freedom; /* degrees of freedom of the variance; infinite for an estimate by samples */
    int64_t n;      /* repetitions, or samples */
};

/*
 * Returns the mean of `n` repetitions. `quantum` is the resolution of the values (seconds of one
 * sample); the variance is never below that of the rounding. One value has infinite variance.
 */
struct as_estimate as_estimate_runs(const double *x, size_t n, double quantum);
/* Estimates the time of `part` of `whole` samples of one run of `whole_s` seconds: binomial. */
struct as_estimate as_estimate_samples(int64_t part, int64_t whole, double whole_s);

struct as_difference {
    double ratio;                /* b / a; NAN if a is zero */
    struct as_interval interval; /* 95 % interval of the ratio; 0 to infinity if unknown */
    double p;                    /* two-sided p-value of Welch's test that both are equal */
};

struct as_difference as_difference_of(const struct as_estimate *a, const struct as_estimate *b);

/*
 * Adjusts `n` p-values for multiple tests (Benjamini and Hochberg). At most 5 % of the results with
 * `adjusted` <= 0.05 are false. NAN (not tested) stays NAN. `order` has space for n.
 */
void as_benjamini_hochberg(const double *p, size_t n, size_t *order, double *adjusted);

/* ---- Quantities --------------------------------------------------------------------------- */

/* Returns a / b with its interval (MOVER on the logarithms). `n` is the smaller of both. */
struct as_bounded_value as_ratio(struct as_bounded_value a, struct as_bounded_value b);
/* Returns `x` times an exact factor. */
struct as_bounded_value as_times(struct as_bounded_value x, double factor);

#endif
