/* SPDX-License-Identifier: Apache-2.0 */
/* What the time stamp counter of this machine means. */
#ifndef AS_VPROF_CLOCK_H
#define AS_VPROF_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/experiment.h"

struct as_tick {
    double overhead; /* ticks that an empty instance seems to take */
    double cycles;   /* core cycles in a tick: the fastest that was repeated */
    bool is_guessed; /* no calibration repeated another: a cycle is taken for a tick */
    double spread;   /* the slowest calibration was slower by this share (0 to 1) */
    double ns;       /* in a tick */
    uint64_t at;     /* ticks when CLOCK_MONOTONIC said `at_ns` */
    int64_t at_ns;
    double passed_ns, timed_ns; /* what an instance costs that is not timed, and one that is */
};

/* Measures for some 30 ms, on several CPUs one after the other. */
struct as_tick as_tick_calibrate(void);
/* Measures the core's clock again, after a run, and takes the result into `it`. */
void as_tick_repeat(struct as_tick *it);
/* Sorts `rate`; returns the highest that the next one repeats within 0.4 %, 0 if none does. */
double as_tick_repeated(double *rate, size_t n);
/* Writes the flag `clock_unsure` of a run if calibrations differ by more than 2 %, or from the
 * frequency that `assay machine` stored for this host by more than 5 %, or if they are 5 % above
 * the highest frequency of cpufreq. */
int as_tick_flag(const struct as_tick *it, struct assay_experiment *experiment, int64_t run_id,
                 const char *pass, struct assay_error *err);

#endif
