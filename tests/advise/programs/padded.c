/* SPDX-License-Identifier: Apache-2.0 */
/* finding: set_conflicts; repair: the leading dimension is longer by one cache line;
 * says: goes on by 8,192 bytes; advises: longer by one cache line .1,032 elements in place of
 * 1,024. */
#include "program.h"

#define N 1024
#ifdef REPAIRED
#define LEAD (N + 8)
#else
#define LEAD N
#endif

__attribute__((noinline, noipa)) static double sum(const double *matrix, long rows, long lead)
{
    double s = 0;

    for (long i = 0; i < rows; i++)
        s += matrix[i * lead];
    return s;
}

int main(void)
{
    double *matrix = calloc((size_t)N * LEAD, sizeof *matrix), s = 0;

    for (int step = 0; step < 300; step++)
        for (long column = 0; column < N; column++)
            s += sum(matrix + column, N, LEAD);
    return done((int)s);
}
