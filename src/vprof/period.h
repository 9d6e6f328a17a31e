/* SPDX-License-Identifier: Apache-2.0 */
/* Of how many instances one is timed, so that timing takes no more of the run than is granted. */
#ifndef AS_VPROF_PERIOD_H
#define AS_VPROF_PERIOD_H

#include <stddef.h>
#include <stdint.h>

/* What is known of a loop before it is timed. */
struct as_period_loop {
    double instances; /* in a thread */
    double least;     /* part of them that is timed whatever the period */
};

struct as_period {
    const struct as_period_loop *loop;
    size_t n;
    double passed_ns, timed_ns; /* calibrated: an instance that is not timed, one that is more */
    double run_ns;
    uint32_t pilot_every; /* of the pilot, the longest period */
    double pilot;  /* share of the run that the pilot took more than it; below 0: not known */
    double fences; /* what one that is timed takes in the program, to `timed_ns`; 0: the usual */
    double most;   /* granted */
};

/* Share of the run that timing takes at this period. */
double as_period_cost(const struct as_period *it, uint32_t every);
/* The same, when a run at this period took `took` of the program's time more than it: `fences` for
 * the next one, never less than the usual. */
double as_period_fences(const struct as_period *it, uint32_t every, double took);
/* The least period whose cost is granted, or that of the pilot. */
uint32_t as_period_choose(const struct as_period *it);

#endif
