/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration of the time stamp counter: cost of reading, core cycles and nanoseconds per tick. */
#ifndef AS_VPROF_CLOCK_H
#define AS_VPROF_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiment/experiment.h"

struct as_tick {
    double overhead; /* measured ticks of an empty instance */
    double cycles;   /* core cycles per tick: the highest repeated calibration */
    bool is_guessed; /* no calibration was repeated; `cycles` is 1 */
    double spread;   /* relative distance of the slowest calibration: 0 to 1 */
    double ns;       /* nanoseconds per tick */
    uint64_t at;     /* ticks at `at_ns` of CLOCK_MONOTONIC */
    int64_t at_ns;
    double passed_ns, timed_ns; /* overhead of an instance without and with timing */
};

/* Calibrates for about 30 ms, on several CPUs one after the other. */
struct as_tick as_tick_calibrate(void);
/* Measures the clock of the core again, after a run, and updates `it`. */
void as_tick_repeat(struct as_tick *it);
/*
 * Sorts `rate`. Returns the highest rate with a next lower one within 0.4 %, or 0 if there is none.
 */
double as_tick_repeated(double *rate, size_t n);
/*
 * Writes the flag `clock_unsure` of a run in three cases. Calibrations differ by more than 2 %.
 * They differ from the frequency that `assay machine` stored for this host by more than 5 %. They
 * are 5 % above the maximum frequency of cpufreq.
 */
int as_tick_flag(const struct as_tick *it, struct as_experiment *experiment, int64_t run_id,
                 const char *pass, struct as_error *err);

#endif
