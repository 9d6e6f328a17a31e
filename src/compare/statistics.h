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

#include <assay/experiment.h>

#include "base/stat.h"

/* ---- Spread of repetitions ---------------------------------------------------------------- */

/* A value farther from the median than this many robust deviations is an outlier. */
#define AS_OUTLIER_SCORE 3.5
/* Below so many values nothing is called an outlier. */
#define AS_OUTLIER_FEWEST 5

struct as_spread {
    size_t n;
    double min, median, mean, max;
    double deviation;                   /* standard, n - 1 */
    struct as_interval mean_interval;   /* Student's t */
    struct as_interval median_interval; /* order statistics; infinite below six values */
    double robust_deviation; /* 1.4826 MAD, or 1.2533 times the mean one where MAD is zero */
};

/* `sorted` has room for `n` values and holds them in order afterwards. n >= 1. */
void as_spread_of(const double *x, size_t n, double *sorted, struct as_spread *out);
/* Robust deviations from the median, signed; 0 where all values are alike. */
double as_spread_score(const struct as_spread *spread, double x);
/* Whether `x`, one of the values, is an outlier among them. */
bool as_spread_is_outlier(const struct as_spread *spread, double x);

/* Two levels: the best split in two groups, when it explains more than one group would. */
struct as_modes {
    bool two;
    double low_mean, high_mean;
    size_t low_n, high_n;
    double explained; /* share of the squared deviations that the split explains */
};

/* Below 10 values there is no verdict. */
#define AS_MODES_FEWEST 10
void as_modes_of(const double *sorted, size_t n, struct as_modes *out);

/* ---- Drift -------------------------------------------------------------------------------- */

struct as_trend {
    double slope;                /* change from one value to the next (Theil-Sen) */
    struct as_interval interval; /* of the slope, 95 % (Sen); infinite where there are too few */
    double tau;                  /* Kendall's: -1 to 1 */
    double p;                    /* of Mann-Kendall's test that there is no trend; two-sided */
};

/* Values in the order in which they came; `work` has room for n (n - 1) / 2 numbers. n >= 2. */
void as_trend_of(const double *x, size_t n, double *work, struct as_trend *out);

/* ---- Differences -------------------------------------------------------------------------- */

/* A mean with the variance of the mean. */
struct as_estimate {
    double mean, variance;
    double freedom; /* degrees of freedom of the variance; infinite: from the theory of sampling */
    int64_t n;      /* repetitions, or samples */
};

/*
 * Mean of `n` repetitions. `quantum` is the step in which the values come (the time of a sample):
 * values that agree by chance of rounding are not taken for exact. One value: infinite variance.
 */
struct as_estimate as_estimate_runs(const double *x, size_t n, double quantum);
/* `part` of `whole` samples of a run that together stand for `whole_s`: binomial. */
struct as_estimate as_estimate_samples(int64_t part, int64_t whole, double whole_s);

struct as_difference {
    double ratio;                /* of b to a; NAN when a is zero */
    struct as_interval interval; /* of the ratio, 95 %; 0 to infinite where nothing is known */
    double p;                    /* that both are equal, two-sided; Welch */
};

struct as_difference as_difference_of(const struct as_estimate *a, const struct as_estimate *b);

/*
 * Adjusts `n` probabilities for being many (Benjamini and Hochberg): `adjusted` <= 0.05 are
 * discoveries of which at most 5 % are false. NAN = not tested, stays so. `order` has room for n.
 */
void as_benjamini_hochberg(const double *p, size_t n, size_t *order, double *adjusted);

/* ---- Quantities --------------------------------------------------------------------------- */

/* a / b with an interval from theirs (MOVER on the logarithms); n is the smaller one. */
struct assay_quantity as_ratio(struct assay_quantity a, struct assay_quantity b);
/* `x` times an exact factor. */
struct assay_quantity as_times(struct assay_quantity x, double factor);

#endif
