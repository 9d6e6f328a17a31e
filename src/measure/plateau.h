/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plateaus of a curve of latency over size, and which level of the memory each is: by the sizes of
 * the caches, never by order. Knows nothing of how the curve was measured.
 */
#ifndef AS_MEASURE_PLATEAU_H
#define AS_MEASURE_PLATEAU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AS_PLATEAUS_MOST 16

struct as_plateau {
    double first_b, last_b; /* sizes of its first and last point */
    double value;           /* median of its points */
    double spread;          /* its largest over its smallest point, less 1 */
    int level;              /* 1, 2, 3; 0 memory; -1 fits no cache */
    bool is_share; /* ends far before the size of its cache: the part that this machine has */
};

/*
 * Runs of points that differ by at most a fifth and reach over an octave of sizes. `x` ascending.
 * Returns how many were written.
 */
size_t as_plateaus_find(const double *x, const double *y, size_t n,
                        struct as_plateau out[AS_PLATEAUS_MOST]);

/*
 * Names them: a plateau that ends near a cache's size (a factor of 1.7) is that cache's, the nearer
 * one where two are; what goes on to sizes beyond twice the largest is memory. Where nothing ends
 * near the largest cache, the last plateau that is larger than the cache before it is a share of
 * it: others use the rest, or a hypervisor grants a part. `cache_b` by level, 0: none.
 */
void as_plateaus_name(struct as_plateau *plateau, size_t n, const uint64_t cache_b[4]);

#endif
