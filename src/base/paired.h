/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of two commands that run alternately, and of series that may end early. Results depend
 * only on the arguments. Sources of all formulas: doc/internals/compare.md.
 */
#ifndef AS_BASE_PAIRED_H
#define AS_BASE_PAIRED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/stat.h"

/* A run of one of the two commands. */
struct as_turn {
    double at; /* position in the series, or start time; strictly ascending */
    double x;  /* measured value, above 0 */
    bool is_variant;
};

/* Difference of the mean logarithms: variant minus base. */
struct as_paired {
    double difference;
    /* Variance of `difference`; infinite for too few runs (three of each command are enough). */
    double variance;
    double freedom; /* degrees of freedom of the variance */
};

/* Computes the difference. If all runs belong to one command, `out` has difference 0 and infinite
 * variance. Errors: NOMEM. */
int as_paired_of(const struct as_turn *turn, size_t n, struct as_paired *out);

/* Computes the confidence interval of the ratio variant / base at level 1 - `alpha`. `*p` is the
 * two-sided p-value of the hypothesis that the commands do not differ. */
void as_paired_interval(const struct as_paired *it, double alpha, struct as_interval *ratio,
                        double *p);

/* ---- Looks --------------------------------------------------------------------------------- */

/*
 * A series may be tested after 4, 6, 9, 13, 19, 28, ... pairs, and ends when the answer is certain.
 * Each test spends a part of the allowed error. The parts add up to the allowed error, even if the
 * tests depend on each other (Bonferroni).
 */

/* Returns the number of tests up to and including `n` pairs. Sets `*is_look` if there is a test at
 * `n`. */
unsigned as_look_number(size_t n, bool *is_look);
/* Returns the error allowed for test `number`, from 1, of a series without a planned end; the
 * sum is `alpha`. */
double as_look_alpha(double alpha, unsigned number);
/* As as_look_alpha, at `n` of `planned_n` pairs. Early tests get little of `alpha`, the last test
 * gets the rest. */
double as_look_alpha_of(double alpha, size_t n, size_t planned_n);

#endif
