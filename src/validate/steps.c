/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the lengths of measured calls, and estimates the cycles of an iteration from the
 * differences between lengths. A CPU predicts the end of a loop while its branch history reaches
 * the start of the loop. Golden Cove keeps 194 taken branches, Haswell 93 (Yavarzadeh et al.,
 * "Half&Half", S&P 2023). Zen 5 keeps about 110 (measured). Beyond that, the end costs about 65
 * cycles. All lengths are therefore on one side of this limit, and the median of the slopes counts.
 */
#include <math.h>

#include "base/sort.h"
#include "validate/suite.h"

enum {
    STEP = 64,       /* elements; lengths are multiples of it, so that no remainder loop runs */
    PREDICTED = 88,  /* branches up to which the end is predicted */
    FORGOTTEN = 256, /* iterations beyond which it never is */
    PAIRS = AS_SUITE_LENGTHS * (AS_SUITE_LENGTHS - 1) / 2
};

/* Computes `from` and `to` in steps, as far apart as possible on one side of the limit. */
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
    if (to - from < AS_SUITE_LENGTHS - 1) { /* neither side has enough steps */
        from = all / AS_SUITE_LENGTHS;
        to = all;
    }
    for (long i = 0; i < AS_SUITE_LENGTHS; i++)
        out[i] = STEP * (from + i * (to - from) / (AS_SUITE_LENGTHS - 1));
}

/* Sorts the values and returns their median. */
static double middle_of(double *value, size_t n)
{
    as_sort_doubles(value, n);
    return (value[(n - 1) / 2] + value[n / 2]) / 2;
}

/* Returns the median of the slopes between all pairs of lengths (Theil-Sen). */
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
