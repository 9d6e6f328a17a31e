/* SPDX-License-Identifier: Apache-2.0 */
/* finding: cache_bandwidth; repair: all passes over a part that stays in the cache;
 * says: waits for data from L[23]: they take at least; advises: let them work on parts that stay in
 * the caches
 */
#include "program.h"

#define N      524288 /* 4 MiB */
#define PASSES 8

__attribute__((noinline, noipa, optimize("O3"), target("avx2"))) static void
add(double *restrict to, const double *restrict from, long n)
{
    for (long i = 0; i < n; i++)
        to[i] += from[i];
}

int main(void)
{
    double *to = array_of(N), *from = array_of(N + 256) + 256;

#ifdef REPAIRED
    for (int step = 0; step < 600; step++)
        for (long block = 0; block < N; block += 1024)
            for (int pass = 0; pass < PASSES; pass++)
                add(to + block, from + block, 1024);
#else
    for (int step = 0; step < 600; step++)
        for (int pass = 0; pass < PASSES; pass++)
            add(to, from, N);
#endif
    return done((int)to[N / 2]);
}
