/* SPDX-License-Identifier: Apache-2.0 */
/* finding: scalar_arithmetic; repair: told that no two of the arrays overlap */
#include "program.h"

#define N 2000

#ifdef REPAIRED
#define ARRAY *restrict
#else
#define ARRAY *
#endif

__attribute__((noinline)) static void mix(double ARRAY a, double ARRAY b, double ARRAY c,
                                          double ARRAY d, const double ARRAY x,
                                          const double ARRAY y, const double ARRAY z, long n)
{
    for (long i = 0; i < n; i++) {
        a[i] = x[i] + y[i] * 0.5;
        b[i] = y[i] + z[i] * 0.25;
        c[i] = z[i] + x[i] * 0.125;
        d[i] = x[i] * y[i] + z[i];
    }
}

int main(void)
{
    double *a = array_of(N), *b = array_of(N), *c = array_of(N), *d = array_of(N);
    const double *x = array_of(N), *y = array_of(N), *z = array_of(N);

    for (int step = 0; step < 300000; step++)
        mix(a, b, c, d, x, y, z, N - step % 7);
    return done(a[N / 2] + b[1] + c[2] + d[3]);
}
