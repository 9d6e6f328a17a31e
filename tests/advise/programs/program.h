/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs share: arrays that are touched, draws that are the same in each run, clocks,
 * and a result that no compiler can leave out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

__attribute__((unused)) static double *array_of(long n)
{
    double *array = (double *)malloc((size_t)n * sizeof *array);

    if (!array)
        abort();
    for (long i = 0; i < n; i++)
        array[i] = (double)(i % 1000) * 0.001;
    return array;
}

__attribute__((unused)) static unsigned draw(void)
{
    static unsigned long seed = 1;

    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33);
}

static double time_s(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((unused)) static double clock_s(void)
{
    return time_s(CLOCK_MONOTONIC);
}

#ifdef _OPENMP
/* Processor time of the one of two threads that computes longest. */
__attribute__((unused)) static double longest_s(void)
{
    double longest = 0;

#pragma omp parallel reduction(max : longest) num_threads(2)
    longest = time_s(CLOCK_THREAD_CPUTIME_ID);
    return longest;
}
#endif

/* The seconds that its head speaks of. */
__attribute__((unused)) static void say_seconds(double seconds)
{
    fprintf(stderr, "seconds %.6f\n", seconds);
}

static int done(double result)
{
    printf("%g\n", result);
    return 0;
}
