/* SPDX-License-Identifier: Apache-2.0 */
/* finding: strided_walk; repair: the loops are swapped;
 * says: along the array matrix, and uses 25 % of the cache lines that come */
#include "program.h"

#define N 3000

static double matrix[N][N];

int main(void)
{
    double sum[N] = {0};

    for (int step = 0; step < 40; step++)
#ifdef REPAIRED
        for (int i = 0; i < N; i++)
            for (int k = 0; k < N; k++)
                sum[k] += matrix[i][k] += step;
#else
        for (int k = 0; k < N; k++)
            for (int i = 0; i < N; i++)
                sum[k] += matrix[i][k] += step;
#endif
    return done(sum[N / 2]);
}
