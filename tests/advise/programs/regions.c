/* SPDX-License-Identifier: Apache-2.0 */
/* finding: parallel_overhead; flags: -O2 -fopenmp; variables: OMP_WAIT_POLICY=active;
 * seconds: of the longest thread;
 * mended: one parallel region in place of one for each short step. */
#include "program.h"

#define N     400
#define STEPS 1200000

static double a[N];

int main(void)
{
#ifdef MENDED
#pragma omp parallel num_threads(2)
    for (int step = 0; step < STEPS; step++)
#pragma omp for schedule(static) nowait
        for (int i = 0; i < N; i++)
            a[i] = a[i] * 0.5 + step;
#else
    for (int step = 0; step < STEPS; step++)
#pragma omp parallel for schedule(static) num_threads(2)
        for (int i = 0; i < N; i++)
            a[i] = a[i] * 0.5 + step;
#endif
    say_seconds(longest_s());
    return done(a[N / 2]);
}
