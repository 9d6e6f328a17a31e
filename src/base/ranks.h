/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two samples by ranks, so that outliers count no more than other values. The shift is the
 * median of all pairwise differences. Its interval comes from the rank-sum test (Hodges and
 * Lehmann, Moses; doc/internals/try.md). Results depend only on the arguments.
 */
#ifndef AS_BASE_RANKS_H
#define AS_BASE_RANKS_H

#include <stddef.h>

#include "base/stat.h"

/*
 * Returns the median shift from `b` to `a`. Each sample has at least one value. `work` is scratch
 * space for a_n * b_n numbers. `*interval` gets the interval at level 1 - `alpha`; it is unbounded
 * for too few values.
 */
double as_ranks_shift(const double *a, size_t a_n, const double *b, size_t b_n, double alpha,
                      double *work, struct as_interval *interval);

/* Returns the largest number of inversions u with P(U <= u) <= `tail`, or -1 if there is none. All
 * orders of the a_n + b_n values are equally likely. */
long as_ranks_cut(size_t a_n, size_t b_n, double tail);

#endif
