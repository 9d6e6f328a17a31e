/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the step of a curve from one level to another: the size of a resource that fills up. It
 * does not depend on how the curve was measured.
 */
#ifndef AS_MEASURE_KNEE_H
#define AS_MEASURE_KNEE_H

#include <stdbool.h>
#include <stddef.h>

struct as_knee {
    double from, at;  /* last x of the lower level, first x of the upper level */
    double low, high; /* medians of both levels */
};

/*
 * Searches a knee in a noisy curve with ascending `x`. Returns true if two adjacent levels differ
 * by at least the factor `step`. The transition must be shorter than a seventh of its end. So a
 * slope or a single outlier is not a knee. Fills `out` in both cases, unless there are fewer than
 * eight points.
 */
bool as_knee_find(const double *x, const double *y, size_t n, double step, struct as_knee *out);

#endif
