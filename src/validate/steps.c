/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lengths of the calls a loop is measured in, and the cycles of an iteration out of what longer
 * calls take longer. The branch that ends a loop is predicted as long as the history of branches
 * reaches back to its beginning (Golden Cove: 194 taken ones, Haswell: 93; Yavarzadeh et al.,
 * "Half&Half", S&P 2023; Zen 5 as measured: some 110), and costs some 65 cycles beyond. All lengths
 * are therefore on one side of that; and of the slopes between them the middle one counts.
 */
#include <math.h>

#include "base/sort.h"
#include "validate/suite.h"

enum {
    STEP = 64,       /* elements: lengths are multiples of it, so that no remainder runs */
    PREDICTED = 88,  /* branches behind which the end is still foreseen */
    FORGOTTEN = 256, /* iterations behind which it never is */
    PAIRS = AS_SUITE_LENGTHS * (AS_SUITE_LENGTHS - 1) / 2
};

/* From and to in steps, as far apart as can be on one side. */
void as_suite_lengths(long most, double iterations, double branches, long out[AS_SUITE_LENGTHS])
{
    const long all = most / STEP > AS_SUITE_LENGTHS ? most / STEP : AS_SUITE_LENGTHS;
    const long forgotten = (long)ceil(FORGOTTEN / (iterations * STEP));
    long from = 1, to = (long)(PREDICTED / (branches * STEP));
    if (to > all)
        to = all;
    if (all - forgotten > to - from) {
        from = forgotten;
        to = all;
    }
    if (to - from < AS_SUITE_LENGTHS - 1) { /* neither side has room */
        from = all / AS_SUITE_LENGTHS;
        to = all;
    }
    for (long i = 0; i < AS_SUITE_LENGTHS; i++)
        out[i] = STEP * (from + i * (to - from) / (AS_SUITE_LENGTHS - 1));
}

/* Sorts them; of an even number the mean of both in the middle. */
static double middle_of(double *value, size_t n)
{
    as_sort_doubles(value, n);
    return (value[(n - 1) / 2] + value[n / 2]) / 2;
}

/* Theil and Sen: the middle of the slopes between any two lengths. */
static double middle_slope(const long *length, const double *step)
{
    double slope[PAIRS];
    size_t n = 0;
    for (unsigned from = 0; from + 1 < AS_SUITE_LENGTHS; from++) {
        double cycles = 0;
        for (unsigned to = from + 1; to < AS_SUITE_LENGTHS; to++) {
            cycles += step[to - 1] * (double)(length[to] - length[to - 1]);
            slope[n++] = cycles / (double)(length[to] - length[from]);
        }
    }
    return middle_of(slope, n);
}

double as_suite_estimate(const long length[AS_SUITE_LENGTHS],
                         const double step[AS_SUITE_PLACES][AS_SUITE_LENGTHS - 1], double *spread)
{
    double at[AS_SUITE_PLACES];
    for (unsigned place = 0; place < AS_SUITE_PLACES; place++)
        at[place] = middle_slope(length, step[place]);
    const double middle = middle_of(at, AS_SUITE_PLACES);
    *spread = middle > 0 ? (at[AS_SUITE_PLACES - 1] - at[0]) / middle : -1;
    return middle;
}
