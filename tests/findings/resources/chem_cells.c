/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Two calls take the CPU time of the thread for each cell. Each of them is a system call.
 * place: cpu_ns react react_all clock_gettime __clock_gettime __vdso_clock_gettime
 * finding: system_calls
 * words: (?i)clock|\btime\b.*call|timer|timestamp|system call|kernel
 * false: memory_latency memory_bandwidth mispredictions page_faults input_output waiting
 * flags: -O2 -g
 * arguments: 2000 900
 * repair: The time is taken for a whole sweep over the cells.
 * clock: cpu */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SPECIES = 4 };

struct cell {
    double fraction[SPECIES], temperature;
};

/* Time of the chemistry, for the profile of the model. */
struct profile {
    int64_t chemistry_ns;
    long cells;
};

static int64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* HERE */
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Moves the reactions A + B -> C and C -> D of a cell by one step, in 32 parts. */
static void __attribute__((noinline)) react(struct cell *c, double dt)
{
    double *f = c->fraction, part = dt / 32;

    for (int k = 0; k < 32; k++) {
        double forward = 0.3 * c->temperature * f[0] * f[1] * part;
        double decay = 0.05 * f[2] * part;

        f[0] -= forward;
        f[1] -= forward;
        f[2] += forward - decay;
        f[3] += decay;
        c->temperature += 0.01 * forward;
    }
}

static void react_all(struct cell *cells, int n, double dt, struct profile *p)
{
#ifdef REPAIRED
    int64_t start = cpu_ns();

    for (int i = 0; i < n; i++)
        react(&cells[i], dt);
    p->chemistry_ns += cpu_ns() - start;
#else
    for (int i = 0; i < n; i++) { /* HERE */
        int64_t start = cpu_ns(); /* HERE */

        react(&cells[i], dt);
        p->chemistry_ns += cpu_ns() - start; /* HERE */
    }
#endif
    p->cells += n;
}

/* Exchanges heat between neighbours. */
static void conduct(struct cell *cells, int n)
{
    double before = cells[0].temperature;

    for (int i = 1; i + 1 < n; i++) {
        double here = cells[i].temperature;

        cells[i].temperature += 0.1 * (before - 2 * here + cells[i + 1].temperature);
        before = here;
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100, steps = argc > 2 ? atoi(argv[2]) : 10;
    struct cell *cells = calloc((size_t)n, sizeof *cells);
    struct profile profile = {0, 0};
    double product = 0;

    if (!cells)
        return 2;
    for (int i = 0; i < n; i++) {
        cells[i].fraction[0] = 0.4 + 0.2 * (i * 17 % 64) / 64.0;
        cells[i].fraction[1] = 1 - cells[i].fraction[0];
        cells[i].temperature = 1 + 0.01 * (i % 29);
    }
    for (int s = 0; s < steps; s++) {
        react_all(cells, n, 0.01, &profile);
        conduct(cells, n);
    }
    for (int i = 0; i < n; i++)
        product += cells[i].fraction[3];
    if (profile.chemistry_ns <= 0)
        return 3;
    printf("chem_cells %.12f of %ld\n", product / n, profile.cells);
    free(cells);
    return 0;
}
