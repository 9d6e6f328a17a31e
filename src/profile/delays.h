/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time and run delay of threads. Run delay is the time that a thread was ready to run and had
 * no CPU. The source is /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst). The
 * file vanishes with its thread, so it is read repeatedly. Times after the last reading of a thread
 * are missing.
 */
#ifndef AS_PROFILE_DELAYS_H
#define AS_PROFILE_DELAYS_H

#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "sample/sample.h"

struct as_delay {
    uint32_t pid, tid;             /* 0: the slot is free */
    int64_t before_ns;             /* delay before the recording */
    int64_t now_ns;                /* delay at the last reading; -1 = unknown */
    int64_t ran_before_ns, ran_ns; /* CPU time likewise */
};

struct as_delays {
    AS_VEC(struct as_delay) thread;
    AS_VEC(uint32_t) unused;
    struct as_map_u64 at; /* pid and tid to slot; the slot may have a new owner */
    int64_t next_ns;      /* CLOCK_MONOTONIC of the next reading */
};

void as_delays_init(struct as_delays *delays);
void as_delays_fini(struct as_delays *delays);
/* Adds a thread. `existed`: the thread is older than the recording, so its delay until now does not
 * count. Errors: NOMEM. */
int as_delays_add(struct as_delays *delays, uint32_t pid, uint32_t tid, bool existed);
/* Sets the delay of an added thread from another source; -1 for unknown is ignored. */
void as_delays_know(struct as_delays *delays, uint32_t pid, uint32_t tid, int64_t now_ns);
/* Reads the delays of all threads when the next reading is due. Readings use at most 1 % of a CPU.
 */
void as_delays_look(struct as_delays *delays, int64_t now_ns);
/* Writes "run_delay_ns" and "ran_ns" to the recorder, for a thread that ended at `time_ns`, or for
 * all. Errors: those of the recorder, NOMEM. */
int as_delays_end(struct as_delays *delays, struct as_recorder *recorder, uint32_t pid,
                  uint32_t tid, uint64_t time_ns, struct as_error *err);
int as_delays_end_all(struct as_delays *delays, struct as_recorder *recorder, uint64_t time_ns,
                      struct as_error *err);

#endif
