/* SPDX-License-Identifier: Apache-2.0 */
/* finding: straight_code; repair: the function works on all elements, with the loop inside. */
#include "program.h"

#define N 2000

/* Several products of small matrices, as solvers of blocks have them. */
#define BODY(x, y, z, i)                                                                           \
    z[0][i] += x[0][i] * y[0][i] + x[1][i] * y[2][i];                                              \
    z[1][i] += x[0][i] * y[1][i] + x[1][i] * y[3][i];                                              \
    z[2][i] += x[2][i] * y[0][i] + x[3][i] * y[2][i];                                              \
    z[3][i] += x[2][i] * y[1][i] + x[3][i] * y[3][i];

static double a[4][N], b[4][N], c[4][N];

#ifdef REPAIRED
__attribute__((noinline)) static void multiply(long n)
{
    for (long i = 0; i < n; i++) {
        BODY(a, b, c, i)
    }
}
#else
__attribute__((noinline)) static void multiply(long i)
{
    BODY(a, b, c, i)
}
#endif

int main(void)
{
    for (int k = 0; k < N; k++)
        a[k % 4][k] = b[k % 3][k] = k;
    for (int step = 0; step < 300000; step++) {
#ifdef REPAIRED
        multiply(N);
#else
        for (long i = 0; i < N; i++)
            multiply(i);
#endif
    }
    return done(c[1][N / 2]);
}
