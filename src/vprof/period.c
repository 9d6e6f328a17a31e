/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What timing costs is calibrated on stubs without a loop between them. In a program it is more:
 * code that passes lies between code of ours, and the fences of a reading keep the processor from
 * what it would do meanwhile. The pilot run shows the one as a whole.
 */
#include "vprof/period.h"

#include <math.h>

/* LAMMPS (melt, one instance of 9): what the timed run took more than the pilot, to what the
 * calibration says. */
#define FENCES_COST 1.5
#define FENCES_MOST 40.0 /* a run that took so much longer did so for other reasons */
/* Processor times of two runs differ by chance, too: so much of what is granted is left. */
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
