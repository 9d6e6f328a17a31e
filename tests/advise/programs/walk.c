/* SPDX-License-Identifier: Apache-2.0 */
/* finding: memory_bandwidth; repair: all passes over a part of the arrays that stays in a cache. */
#include "program.h"

#define N    (12 << 20)
#define PART (1 << 13)

static void passes(double *restrict a, const double *restrict b, const double *restrict c, long n)
{
    for (int pass = 0; pass < 6; pass++)
        for (long i = 0; i < n; i++)
            a[i] = a[i] + 0.5 * b[i] + c[i];
}

int main(void)
{
    double *a = array_of(N), *b = array_of(N), *c = array_of(N);

    for (int step = 0; step < 60; step++) {
#ifdef REPAIRED
        for (long part = 0; part < N; part += PART)
            passes(a + part, b + part, c + part, PART);
#else
        passes(a, b, c, N);
#endif
    }
    return done(a[N / 3]);
}
