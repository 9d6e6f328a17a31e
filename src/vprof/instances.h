/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loop instances that the patched program recorded: kept records, and totals of all instances by
 * loop and thread. Ticks are ticks of the time stamp counter.
 */
#ifndef AS_VPROF_INSTANCES_H
#define AS_VPROF_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "patch/plan.h"

struct as_instance {
    uint64_t begun; /* ticks */
    double ticks;
    double trips; /* iterations; NAN if unknown */
    uint32_t loop, thread;
    double away_ns;         /* time off the CPU, if known */
    bool switched, faulted; /* the thread left the CPU; it had a major page fault */
};

struct as_instance_thread {
    uint32_t pid, tid;
    uint64_t begun_ns, ended_ns; /* CLOCK_MONOTONIC; `ended_ns` is 0 if it was killed */
};

/* An instance with a call path. It represents `weight` measured instances. */
struct as_instance_path {
    double trips; /* iterations; NAN if unknown */
    double weight;
    uint32_t loop, path; /* `path` is an index in `path_text` */
};

struct as_callers;

struct as_instances {
    const struct as_patch_plan *plan; /* borrowed */
    struct as_callers *callers;       /* finds call paths; NULL to find none; borrowed */
    AS_VEC(struct as_instance_path) path;
    AS_VEC(char *) path_text; /* one frame on each line, outermost first */
    AS_VEC(struct as_instance) kept;
    AS_VEC(struct as_instance_thread) thread;
    AS_VEC(struct as_patch_total) total;     /* [thread][loop of the plan] */
    AS_VEC(struct as_patch_outcome) outcome; /* for each region, in the first process with it */
    AS_VEC(uint64_t) counter;                /* counters of the plan, summed over threads */
    uint64_t dropped;                        /* records lost to signal handlers */
    uint64_t threads_missed;
    uint64_t damaged; /* number of damaged files */
    char rest[256];   /* what remains in a process after detaching; "" if nothing */
};

/* Reads and removes the files of agents in `directory`. `plan` is valid. Errors: NOMEM. */
int as_instances_read(const char *directory, const struct as_patch_plan *plan,
                      struct as_instances *out, struct as_error *err);
/* Number of entries of a loop, and number of measured entries. Both are at least 1. */
struct as_entries {
    double entries, measured;
    unsigned threads; /* number of threads that entered the loop */
    bool is_exact;    /* each thread reported its countdown at its end */
};
struct as_entries as_instances_entries(const struct as_instances *all, uint32_t loop);
/*
 * Returns the reason why a region without results was not patched, or NULL if it was patched. Valid
 * only without results, since an unloaded library makes its region wait again.
 */
const char *as_instances_why_not(const struct as_instances *all, uint32_t region);
void as_instances_fini(struct as_instances *instances);

#endif
