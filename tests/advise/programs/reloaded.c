/* SPDX-License-Identifier: Apache-2.0 */
/* finding: access_by_variable; repair: the loops are swapped;
 * says: a stride that neither the code nor registers show */
#include "program.h"

#define N 2000

/* Each iteration loads the leading dimension, so that no register holds the stride. */
__attribute__((noinline)) static int sum(const int *matrix, const volatile long *lead)
{
    int s = 0;

#ifdef REPAIRED
    for (long i = 0; i < N; i++)
        for (long k = 0; k < N; k++)
            s += matrix[i * *lead + k];
#else
    for (long k = 0; k < N; k++)
        for (long i = 0; i < N; i++)
            s += matrix[i * *lead + k];
#endif
    return s;
}

int main(void)
{
    int *matrix = calloc(N * N, sizeof *matrix), s = 0;
    volatile long lead = N;

    for (int step = 0; step < 40; step++)
        s += sum(matrix, &lead);
    return done(s);
}
