/* SPDX-License-Identifier: Apache-2.0 */
/* finding: narrow_accesses; flags: -O2; repair flags: -O3 */
#include "program.h"

#define N 4000

__attribute__((noinline)) static void larger(double *a, const double *b, const double *c,
                                             const double *d, long n)
{
    for (long i = 0; i < n; i++) {
        const double x = b[i] > c[i] ? b[i] : c[i];
        a[i] = x > d[i] ? x : d[i];
    }
}

int main(void)
{
    double *a = array_of(N), *b = array_of(N), *c = array_of(N), *d = array_of(N);

    for (int step = 0; step < 250000; step++)
        larger(a, b, c, d, N - step % 5);
    return done(a[N / 2]);
}
