/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of two commands that run in turns, and of series that may end before they are done.
 * Pure functions of their arguments. Sources of all formulas: doc/internals/compare.md.
 */
#ifndef AS_BASE_PAIRED_H
#define AS_BASE_PAIRED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/stat.h"

/* A run of one of the two. */
struct as_turn {
    double at; /* its place in the series, or when it ran; strictly ascending */
    double x;  /* what it took, above 0 */
    bool is_variant;
};

/* The difference of the logarithms: variant less base. */
struct as_paired {
    double difference;
    double variance; /* of that; infinite where the runs are too few: three of each are enough */
    double freedom;  /* degrees of freedom of the variance */
};

/* Runs of one command only, or none, differ by 0 with infinite variance. Errors: NOMEM. */
int as_paired_of(const struct as_turn *turn, size_t n, struct as_paired *out);

/* Interval of the ratio of variant to base of level 1 - `alpha`, and the probability (two-sided)
 * that they do not differ. */
void as_paired_interval(const struct as_paired *it, double alpha, struct as_interval *ratio,
                        double *p);

/* ---- Looks --------------------------------------------------------------------------------- */

/*
 * A series may be tested after 4, 6, 9, 13, 19, 28, ... pairs, and ends with a certain answer. Each
 * test spends a part of the allowed error, so that all together keep it, even if they depend on
 * each other (Bonferroni).
 */

/* Looks up to and with `n` pairs; `*is_look`: whether there is one at `n`. */
unsigned as_look_number(size_t n, bool *is_look);
/* Returns the error allowed for test `number`, from 1, of a series without a planned end; the
 * sum is `alpha`. */
double as_look_alpha(double alpha, unsigned number);
/* The same at `n` of `planned_n` pairs: little at early looks, all that is left at the end. */
double as_look_alpha_of(double alpha, size_t n, size_t planned_n);

#endif
