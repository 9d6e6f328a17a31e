/* SPDX-License-Identifier: Apache-2.0 */
/* finding: load_imbalance; flags: -O2 -fopenmp; mended: shared out by what there is to do. */
#include <time.h>

#include "program.h"

#define N 2000

/* Of the thread that computes longest: threads that wait sleep (OMP_WAIT_POLICY=passive). */
static double longest_s(void)
{
    double longest = 0;

#pragma omp parallel reduction(max : longest) num_threads(2)
    {
        struct timespec now;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        longest = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    }
    return longest;
}

int main(void)
{
    double *a = array_of(N), sum = 0;

    for (int step = 0; step < 600; step++) {
#ifdef MENDED
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : sum) num_threads(2)
#else
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(2)
#endif
        for (int i = 0; i < N; i++)
            for (int k = 0; k < i * 4; k++)
                sum += a[k % N] * 0.5;
    }
    fprintf(stderr, "seconds %.6f\n", longest_s());
    return done(sum);
}
