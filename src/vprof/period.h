/* SPDX-License-Identifier: Apache-2.0 */
/* Choice of the period of timing: one of how many instances is timed within the allowed overhead.
 */
#ifndef AS_VPROF_PERIOD_H
#define AS_VPROF_PERIOD_H

#include <stddef.h>
#include <stdint.h>

/* Estimates for a loop before it is timed. */
struct as_period_loop {
    double instances; /* instances per thread */
    double least;     /* minimum share of timed instances, for any period */
};

struct as_period {
    const struct as_period_loop *loop;
    size_t n;
    double passed_ns,
        timed_ns; /* calibrated overhead of an instance; the additional one of timing */
    double run_ns;
    uint32_t pilot_every; /* period of the pilot run: the maximum */
    double pilot;         /* overhead of the pilot as a share of the run; negative if unknown */
    double
        fences;  /* real overhead of a timed instance as a multiple of `timed_ns`; 0: the default */
    double most; /* allowed share of the run */
};

/* Returns the overhead of timing at this period as a share of the run. */
double as_period_cost(const struct as_period *it, uint32_t every);
/* Returns `fences` from a run at this period with the overhead `took`; at least the default. */
double as_period_fences(const struct as_period *it, uint32_t every, double took);
/* Returns the shortest period within the allowed overhead, or the period of the pilot. */
uint32_t as_period_choose(const struct as_period *it);

#endif
