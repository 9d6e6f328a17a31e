/* SPDX-License-Identifier: Apache-2.0 */
/* finding: load_imbalance; flags: -O2 -fopenmp; seconds: of the longest thread (those that wait
 * sleep); repair: shared out by what there is to do. */
#include "program.h"

#define N 2000

int main(void)
{
    double *a = array_of(N), sum = 0;

    for (int step = 0; step < 600; step++) {
#ifdef REPAIRED
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : sum) num_threads(2)
#else
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(2)
#endif
        for (int i = 0; i < N; i++)
            for (int k = 0; k < i * 4; k++)
                sum += a[k % N] * 0.5;
    }
    say_seconds(longest_s());
    return done(sum);
}
