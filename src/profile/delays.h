/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long threads were ready to run and had no processor, by the kernel's account
 * (/proc/PID/task/TID/schedstat, Documentation/scheduler/sched-stats.rst). It is gone with the
 * thread, so it is read again and again: of a thread that ends between two looks what came after
 * the last one is missing.
 */
#ifndef AS_PROFILE_DELAYS_H
#define AS_PROFILE_DELAYS_H

#include <stdint.h>

#include <assay/sample.h>

#include "base/map.h"
#include "base/vec.h"

struct as_delay {
    uint32_t pid, tid; /* 0: the slot is free */
    int64_t before_ns; /* when it was met */
    int64_t now_ns;    /* -1: not known */
};

struct as_delays {
    AS_VEC(struct as_delay) thread;
    AS_VEC(uint32_t) unused;
    struct as_map_u64 at; /* pid and tid -> slot, perhaps another's by now */
    int64_t next_ns;      /* when to look again */
};

void as_delays_init(struct as_delays *delays);
void as_delays_fini(struct as_delays *delays);
/* `existed`: what it waited until now was before the recording. 0 or NOMEM. */
int as_delays_add(struct as_delays *delays, uint32_t pid, uint32_t tid, bool existed);
/* What others know of a thread that was added and has not ended; -1: nothing. */
void as_delays_know(struct as_delays *delays, uint32_t pid, uint32_t tid, int64_t now_ns);
/* Reads all, when it is time: looking takes a hundredth of a processor at most. */
void as_delays_look(struct as_delays *delays, int64_t now_ns);
/* Tells the recorder ("run_delay_ns"): of a thread that ended at `time_ns`, or of all. */
int as_delays_end(struct as_delays *delays, struct assay_recorder *recorder, uint32_t pid,
                  uint32_t tid, uint64_t time_ns, struct assay_error *err);
int as_delays_end_all(struct as_delays *delays, struct assay_recorder *recorder, uint64_t time_ns,
                      struct assay_error *err);

#endif
