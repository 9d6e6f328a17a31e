/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the plateaus of a latency curve over size. Assigns them to memory levels by the sizes of
 * the caches. It does not depend on how the curve was measured.
 */
#ifndef AS_MEASURE_PLATEAU_H
#define AS_MEASURE_PLATEAU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AS_PLATEAUS_MOST 16

struct as_plateau {
    double first_b, last_b; /* sizes of its first and last point in bytes */
    double value;           /* median of its points */
    double spread;          /* largest over smallest point, minus 1 */
    int level;              /* 1, 2, 3: cache; 0: memory; -1: matches no cache */
    /* It ends far below the cache size: the part that this machine may use. */
    bool is_share;
};

/*
 * Finds runs of points that differ by at most a fifth and span an octave of sizes. `x` is
 * ascending. Returns the number of plateaus.
 */
size_t as_plateaus_find(const double *x, const double *y, size_t n,
                        struct as_plateau out[AS_PLATEAUS_MOST]);

/*
 * Sets the level of each plateau. A plateau that ends near a cache size (factor 1.7) belongs to
 * this cache; of two the nearer one. A plateau beyond twice the largest cache is memory. If no
 * plateau ends near the largest cache, the last one above the cache before it is a share. Others
 * use the rest, or a hypervisor grants a part. `cache_b` is by level; 0: none.
 */
void as_plateaus_name(struct as_plateau *plateau, size_t n, const uint64_t cache_b[4]);

#endif
