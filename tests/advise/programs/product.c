/* SPDX-License-Identifier: Apache-2.0 */
/* finding: blocking; repair: tiles of b that stay in the second cache;
 * says: array b again for each iteration of the loop at product.c:[0-9]+; advises: tiles
 */
#include "program.h"

#define N 2400L /* a matrix has 44 MiB */
#ifdef MENDED
#define TILE 240L
#else
#define TILE N
#endif

__attribute__((noinline, noipa, optimize("O2", "tree-vectorize", "fast-math"),
               target("avx2,fma"))) static void
multiply(double *restrict c, const double *restrict a, const double *restrict b, long rows, long n,
         long tile)
{
    for (long i = 0; i < rows; i++)
        for (long k = 0; k < tile; k++)
            for (long j = 0; j < tile; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

int main(void)
{
    double *a = array_of(N * N), *b = array_of(N * N), *c = array_of(N * N);

    for (long k = 0; k < N; k += TILE)
        for (long j = 0; j < N; j += TILE)
            multiply(c + j, a + k, b + k * N + j, 120, N, TILE);
    return done((int)c[N / 2]);
}
