/* SPDX-License-Identifier: Apache-2.0 */
/* finding: memory_given_back; repair: the arrays are kept. */
#include "program.h"

#define N (1 << 20)

int main(void)
{
    double sum = 0, *kept[4] = {0};

    for (int step = 0; step < 180; step++) {
        double *array[4];
        for (int k = 0; k < 4; k++) {
#ifdef REPAIRED
            array[k] = kept[k] ? kept[k] : (kept[k] = malloc(N * sizeof(double)));
#else
            array[k] = malloc(N * sizeof(double));
#endif
            for (int i = 0; i < N; i++)
                array[k][i] = i + step;
        }
        for (int i = 0; i < N; i++)
            sum += array[0][i] + array[1][i] * array[2][i] - array[3][i];
        for (int k = 0; k < 4 && !kept[k]; k++)
            free(array[k]);
    }
    return done(sum);
}
