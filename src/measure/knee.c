/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds two levels: the split of the points with the smallest distance to the medians of both
 * sides. The transition begins where the curve leaves the lower quarter of the step. It ends where
 * the curve stays in the upper quarter.
 */
#include "measure/knee.h"

#include <math.h>
#include <string.h>

#include "measure/chain.h"

enum { POINTS_LEAST = 8, SIDE_LEAST = 3, POINTS_MOST = 512 };

#define WIDEST (1. / 7) /* transition / its end: dispatch groups give some per cent */
#define STRAYS 0.12     /* max share of points on the wrong side */

static double median_of(const double *y, size_t n)
{
    double value[POINTS_MOST];

    memcpy(value, y, n * sizeof *y);
    return as_sample_quantile(value, n, 0.5);
}

static double distance_to(const double *y, size_t n, double level)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += fabs(y[i] - level);
    return sum;
}

static void best_split(const double *y, size_t n, struct as_knee *out)
{
    double best = INFINITY;

    for (size_t i = SIDE_LEAST; i + SIDE_LEAST <= n; i++) {
        const double low = median_of(y, i), high = median_of(y + i, n - i);
        const double all = distance_to(y, i, low) + distance_to(y + i, n - i, high);
        if (all >= best)
            continue;
        best = all;
        out->low = low;
        out->high = high;
    }
}

/* Returns the first point of the upper level. Single outliers are skipped; two in a row count. */
static size_t first_of_upper(const double *y, size_t n, double level)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (y[i] >= level && y[i + 1] >= level && (i + 2 >= n || y[i + 2] >= level))
            return i;
    return n - 1;
}

static size_t last_of_lower(const double *y, size_t end, double level)
{
    for (size_t i = end; i-- > 0;)
        if (y[i] <= level && (i == 0 || y[i - 1] <= level))
            return i;
    return 0;
}

static size_t strays(const double *y, size_t n, const struct as_knee *knee, size_t from, size_t at)
{
    const double middle = sqrt(knee->low * knee->high);
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += (i <= from && y[i] > middle) || (i >= at && y[i] < middle);
    return found;
}

bool as_knee_find(const double *x, const double *y, size_t n, double step, struct as_knee *out)
{
    *out = (struct as_knee){0};
    if (n < POINTS_LEAST || n > POINTS_MOST)
        return false;
    best_split(y, n, out);
    const double rise = out->high - out->low;
    const size_t at = first_of_upper(y, n, out->low + 0.75 * rise);
    const size_t from = last_of_lower(y, at, out->low + 0.25 * rise);
    out->at = x[at];
    out->from = x[from];
    return out->low > 0 && out->high >= step * out->low && at >= SIDE_LEAST &&
           at + SIDE_LEAST <= n && x[at] - x[from] <= WIDEST * x[at] &&
           (double)strays(y, n, out, from, at) <= STRAYS * (double)n;
}
