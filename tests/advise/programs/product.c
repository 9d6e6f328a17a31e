/* SPDX-License-Identifier: Apache-2.0 */
/* finding: blocking; repair: tiles of b that stay in the second cache;
 * says: the array b again for each iteration of the loop at product.c:[0-9]+; advises: tiles
 */
#include "program.h"

#define N 2400L /* a matrix has 44 MiB */
#ifdef REPAIRED
#define TILE 240L
#else
#define TILE N
#endif

__attribute__((noinline, noipa, optimize("O2", "tree-vectorize", "fast-math"),
               target("avx2,fma"))) static void
multiply(double *restrict c, const double *restrict a, const double *restrict b, long rows)
{
    for (long i = 0; i < rows; i++)
        for (long k = 0; k < TILE; k++)
            for (long j = 0; j < TILE; j++)
                c[i * N + j] += a[i * N + k] * b[k * N + j];
}

int main(void)
{
    double *a = array_of(N * N), *b = array_of(N * N), *c = array_of(N * N);

    for (long k = 0; k < N; k += TILE)
        for (long j = 0; j < N; j += TILE)
            multiply(c + j, a + k, b + k * N + j, 200);
    return done((int)c[N / 2]);
}
