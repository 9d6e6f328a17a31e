/* SPDX-License-Identifier: Apache-2.0 */
/* finding: busy_waiting; flags: -O2 -fopenmp; starter: taskset -c 0,1; beside: a busy loop on each
 * of these processors; seconds: from start to end;
 * repair: threads that wait sleep;
 * says: code of OpenMP itself takes [0-9.]+ % of the time, while threads were ready to run for;
 * advises: OMP_WAIT_POLICY=passive */
#include <unistd.h>

#include "program.h"

#define N     20000
#define STEPS 3000

static double a[N];

/* The library reads it before main. */
static void begin_again(char **argv)
{
#ifdef REPAIRED
    setenv("OMP_WAIT_POLICY", "passive", 1);
#else
    unsetenv("OMP_WAIT_POLICY"); /* as it comes: it spins for a while */
#endif
    setenv("NEIGHBOURS_BEGAN", "1", 1);
    execv("/proc/self/exe", argv);
    abort();
}

int main(int argc, char **argv)
{
    if (argc < 1 || !getenv("NEIGHBOURS_BEGAN"))
        begin_again(argv);
    const double began_s = clock_s();
    for (int step = 0; step < STEPS; step++)
#pragma omp parallel for schedule(static) num_threads(2)
        for (int i = 0; i < N; i++)
            a[i] = a[i] * 0.5 + step;
    say_seconds(clock_s() - began_s);
    return done(a[N / 2]);
}
