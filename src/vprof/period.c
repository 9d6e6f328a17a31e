/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The overhead of timing is calibrated on stubs without a loop. It is higher in a program. Code of
 * the program runs between the stubs, and the fences of a clock reading prevent overlap. The
 * pilot run measures the overhead of instances without timing as a whole.
 */
#include "vprof/period.h"

#include <math.h>

/* Measured over calibrated overhead of timing in LAMMPS (melt, one of 9 instances is timed). */
#define FENCES_COST 1.5
#define FENCES_MOST 40.0 /* a longer run has other reasons */
/* Maximum share of the allowed overhead for the pilot, since CPU times of two runs also vary. */
#define PILOT_MOST 0.8

static double fences_of(const struct as_period *it)
{
    return it->fences > 0 ? it->fences : FENCES_COST;
}

static double timing_of(const struct as_period *it, uint32_t every)
{
    double ns = 0;
    for (size_t i = 0; i < it->n; i++) {
        const double part = fmin(1, fmax(1. / every, it->loop[i].least));
        ns += it->loop[i].instances * part * it->timed_ns * fences_of(it);
    }
    return ns / it->run_ns;
}

double as_period_cost(const struct as_period *it, uint32_t every)
{
    double passed_ns = 0;
    if (!(it->run_ns > 0))
        return 0;
    for (size_t i = 0; i < it->n; i++)
        passed_ns += it->loop[i].instances * it->passed_ns;
    const double seen = fmin(it->pilot - timing_of(it, it->pilot_every), PILOT_MOST * it->most);
    const double passed = every == 1 ? 0 : fmax(passed_ns / it->run_ns, seen);
    return passed + timing_of(it, every);
}

double as_period_fences(const struct as_period *it, uint32_t every, double took)
{
    const double timing = timing_of(it, every);
    const double passed = as_period_cost(it, every) - timing;
    if (!(timing > 0))
        return fences_of(it);
    return fmin(FENCES_MOST, fmax(FENCES_COST, (took - passed) / timing * fences_of(it)));
}

uint32_t as_period_choose(const struct as_period *it)
{
    const uint32_t longest = it->pilot_every;
    uint32_t every = 1;
    while (every < longest && as_period_cost(it, every) > it->most)
        every = every < 10 ? every + 1 : every + every / 4;
    return every < longest ? every : longest;
}
