/* SPDX-License-Identifier: Apache-2.0 */
/* finding: parallel_overhead; flags: -O2 -fopenmp; variables: OMP_WAIT_POLICY=active;
 * seconds: of the longest thread;
 * repair: one parallel region in place of one for each short step, whose threads take parts as they
 * come, so that one which begins late leaves its share to the other. */
#include "program.h"

#define N     400
#define STEPS 1200000
#define PART  50

static double a[N];

/* The same code in both forms. */
static __attribute__((noinline)) void move_part(int from, int to, int step)
{
    for (int i = from; i < to; i++)
        a[i] = a[i] * 0.5 + step;
}

int main(void)
{
#ifdef REPAIRED
#pragma omp parallel for schedule(dynamic) num_threads(2)
    for (int part = 0; part < N; part += PART)
        for (int step = 0; step < STEPS; step++)
            move_part(part, part + PART, step);
#else
    for (int step = 0; step < STEPS; step++)
#pragma omp parallel for schedule(static) num_threads(2)
        for (int half = 0; half < 2; half++)
            move_part(half * N / 2, (half + 1) * N / 2, step);
#endif
    say_seconds(longest_s());
    return done(a[N / 2]);
}
