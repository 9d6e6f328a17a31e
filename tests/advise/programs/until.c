/* SPDX-License-Identifier: Apache-2.0 */
/* finding: scalar_exit; repair: it looks for the end once a block;
 * says: because what it loads or computes decides when it ends */
#include "program.h"

#define N     4096
#define BLOCK 64
#define VALUE(a, b)                                                                                \
    ((a) * (0.5 + (b) * (0.25 + (a) * (0.125 + (b) * (0.0625 +                                     \
                                                      (a) * (0.03 + (b) * (0.01 + (a)*0.005)))))))

__attribute__((noinline)) static long first(const double *a, const double *b, double limit)
{
    long at = 0;

#ifdef REPAIRED
    for (double over = 0; over == 0; at += over > 0 ? 0 : BLOCK) {
        double found = 0;
#pragma omp simd reduction(+ : found)
        for (long i = at; i < at + BLOCK; i++)
            found += VALUE(a[i], b[i]) >= limit ? 1.0 : 0.0;
        over = found;
    }
#endif
    while (VALUE(a[at], b[at]) < limit)
        at++;
    return at;
}

int main(void)
{
    double *a = array_of(N), *b = array_of(N);
    long sum = 0;

    for (int step = 0; step < 100000; step++) {
        const long end = N - 1 - step % 100;
        a[end] = 1000;
        sum += first(a, b, 400);
        a[end] = 0;
    }
    return done((double)sum);
}
