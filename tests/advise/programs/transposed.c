/* SPDX-License-Identifier: Apache-2.0 */
/* finding: blocking; repair: tiles of both arrays;
 * says: the rest of each line of the array to; advises: tiles of [0-9]+ by [0-9]+
 */
#include "program.h"

#define N 2500L
#ifdef MENDED
#define TILE 50L
#else
#define TILE N
#endif

__attribute__((noinline, noipa)) static void transpose(double *restrict to,
                                                       const double *restrict from, long n,
                                                       long tile)
{
    for (long i = 0; i < tile; i++)
        for (long j = 0; j < tile; j++)
            to[j * n + i] = from[i * n + j];
}

int main(void)
{
    double *to = array_of(N * N), *from = array_of(N * N);

    for (int step = 0; step < 12; step++)
        for (long i = 0; i < N; i += TILE)
            for (long j = 0; j < N; j += TILE)
                transpose(to + j * N + i, from + i * N + j, N, TILE);
    return done((int)to[N / 2]);
}
