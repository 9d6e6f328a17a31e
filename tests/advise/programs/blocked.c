/* SPDX-License-Identifier: Apache-2.0 */
/* finding: blocking; repair: blocks of points that stay in the cache, all queries for each;
 * says: the array x, y again for each iteration of the loop at blocked.c:[0-9]+;
 * advises: [0-9,]+ elements stay in L2
 */
#include "program.h"

#define N       (6L << 20) /* points: 96 MiB */
#define QUERIES 192
#define BLOCK   8192

/* Sums of squares of distances from each query to all points. */
__attribute__((noinline, noipa, optimize("O3", "fast-math"), target("avx2,fma"))) static void
add_distances(double *restrict sum, const double *restrict q, const double *restrict x,
              const double *restrict y, long n)
{
    for (long i = 0; i < QUERIES; i++) {
        double s = 0;
        for (long j = 0; j < n; j++) {
            const double dx = x[j] - q[i], dy = y[j] - q[i];
            s += dx * dx + dy * dy;
        }
        sum[i] += s;
    }
}

int main(void)
{
    double *x = array_of(N), *y = array_of(N), *q = array_of(QUERIES), sum[QUERIES] = {0};

#ifdef REPAIRED
    for (long from = 0; from < N; from += BLOCK)
        add_distances(sum, q, x + from, y + from, BLOCK);
#else
    add_distances(sum, q, x, y, N);
#endif
    return done((int)sum[QUERIES / 2]);
}
