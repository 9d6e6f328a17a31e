/* SPDX-License-Identifier: Apache-2.0 */
/* finding: strided_walk; repair: the loops are swapped;
 * says: uses 6 % of the cache lines that come */
#include "program.h"

#define N 2000

__attribute__((noinline)) static void add(int *matrix, const int *scale, long lead)
{
#ifdef REPAIRED
    for (long i = 0; i < lead; i++)
        for (long k = 0; k < lead; k++)
            matrix[i * lead + k] += scale[k];
#else
    for (long k = 0; k < lead; k++)
        for (long i = 0; i < lead; i++)
            matrix[i * lead + k] += scale[k];
#endif
}

int main(void)
{
    int *matrix = calloc(N * N, sizeof *matrix), *scale = calloc(N, sizeof *scale);

    for (int step = 0; step < 60; step++)
        add(matrix, scale, N - step % 3);
    return done(matrix[N / 2]);
}
