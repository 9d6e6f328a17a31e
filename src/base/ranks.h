/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far two samples lie apart, by ranks: an outlier counts no more than its place. The shift is
 * the median of all differences and its interval that of the rank-sum test (Hodges and Lehmann,
 * Moses; doc/internals/try.md). Pure functions of their arguments.
 */
#ifndef AS_BASE_RANKS_H
#define AS_BASE_RANKS_H

#include <stddef.h>

#include "base/stat.h"

/*
 * Computes the shift from `b` to `a`, each with at least one value. `work` has a capacity of a_n *
 * b_n numbers. `*interval` has level 1 - `alpha`; unbounded with too few values. Returns the median
 * shift.
 */
double as_ranks_shift(const double *a, size_t a_n, const double *b, size_t b_n, double alpha,
                      double *work, struct as_interval *interval);

/* Returns the largest number of inversions u with P(U <= u) <= `tail`, for a_n and b_n values in
 * equally likely orders; -1: none. */
long as_ranks_cut(size_t a_n, size_t b_n, double tail);

#endif
