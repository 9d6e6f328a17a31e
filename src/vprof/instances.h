/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances of loops as the patched program left them: records that were kept, and totals of all
 * by loop and thread. Ticks are those of the time stamp counter.
 */
#ifndef AS_VPROF_INSTANCES_H
#define AS_VPROF_INSTANCES_H

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "patch/plan.h"

struct as_instance {
    uint64_t begun; /* ticks */
    double ticks;
    double trips; /* NAN: not known */
    uint32_t loop, thread;
    double away_ns;         /* time off the CPU, where it is known */
    bool switched, faulted; /* the thread left the processor; had a major fault */
};

struct as_instance_thread {
    uint32_t pid, tid;
    uint64_t begun_ns, ended_ns; /* CLOCK_MONOTONIC; the latter 0: it was killed */
};

/* One whose call path was taken, in place of `weight` measured ones. */
struct as_instance_path {
    double trips; /* NAN: not known */
    double weight;
    uint32_t loop, path; /* the latter in `path_text` */
};

struct as_callers;

struct as_instances {
    const struct as_patch_plan *plan; /* borrowed */
    struct as_callers *callers;       /* who finds call paths; NULL: nobody. Borrowed */
    AS_VEC(struct as_instance_path) path;
    AS_VEC(char *) path_text; /* a frame a line, the outermost first */
    AS_VEC(struct as_instance) kept;
    AS_VEC(struct as_instance_thread) thread;
    AS_VEC(struct as_patch_total) total;     /* thread by thread, `plan->loop.n` each */
    AS_VEC(struct as_patch_outcome) outcome; /* of each region, in the first process that has it */
    AS_VEC(uint64_t) counter;                /* those of the plan, summed over threads */
    uint64_t dropped;                        /* by handlers that came in between */
    uint64_t threads_missed;
    uint64_t damaged; /* files that make no sense */
    char rest[256];   /* what of us stays in a process that was attached to; "": nothing */
};

/* Reads and removes what agents left in `directory`; `plan` was checked. Errors: NOMEM. */
int as_instances_read(const char *directory, const struct as_patch_plan *plan,
                      struct as_instances *out, struct assay_error *err);
/* How often a loop was entered, and how many of these entries were measured: what was
 * measured stands for the rest. Both at least 1. */
struct as_entries {
    double entries, measured;
    unsigned threads; /* that entered it */
    bool is_exact;    /* the end of each thread said how far its countdown was */
};
struct as_entries as_instances_entries(const struct as_instances *all, uint32_t loop);
/* Why a region without results was not patched; NULL: it was. A library that is gone at the end
 * waits again: ask only where there are no results. */
const char *as_instances_why_not(const struct as_instances *all, uint32_t region);
void as_instances_fini(struct as_instances *instances);

#endif
