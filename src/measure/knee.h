/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a curve steps up from one level to another: the size of what fills up. Knows nothing of how
 * the curve was measured.
 */
#ifndef AS_MEASURE_KNEE_H
#define AS_MEASURE_KNEE_H

#include <stdbool.h>
#include <stddef.h>

struct as_knee {
    double from, at;  /* last x of the lower level, first x of the upper one */
    double low, high; /* medians of both levels */
};

/*
 * `x` ascending, `y` noisy. True where two levels that differ by `step` (a factor) at least stand
 * beside each other with a transition of less than a seventh of where it ends: a slope is no knee,
 * nor is one point that sticks out. `out` is there with both answers, unless there are fewer than
 * eight points.
 */
bool as_knee_find(const double *x, const double *y, size_t n, double step, struct as_knee *out);

#endif
