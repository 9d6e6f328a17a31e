/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of a trace, summed by thread, activity, routine, place and caller.
 */
#ifndef AS_ANALYTICS_SAMPLED_H
#define AS_ANALYTICS_SAMPLED_H

#include "analytics/state/analysis.h"
#include "base/index.h"

struct as_sampled_place {
    const char *module; /* owned by the trace; NULL: unknown */
    uint64_t in_file;   /* address in the module; of a caller, the return address; without a module,
                         * the address in the process */
    bool is_caller;
    const struct as_trace_place *place; /* code place of an imported trace; NULL: none */
};

struct as_sampled_sum {
    uint32_t location;
    enum as_activity activity;
    const char *routine;    /* the outermost call; NULL: no call */
    uint32_t place, caller; /* indices in `place` of as_sampled; AS_INDEX_NONE: unknown */
    uint64_t n;
    int64_t time_ns; /* CPU time that the samples stand for */
    /* Addresses of the first sample in the process; at most two. */
    unsigned address_n;
    uint64_t address[2];
};

struct as_sampled {
    AS_VEC(struct as_sampled_place) place;
    AS_VEC(struct as_sampled_sum) sum; /* in order of their first samples */
    struct as_index places, sums;
};

/* Adds samples that were summed elsewhere; places come from the addresses of `sum`. Returns 0 or
 * AS_ERR_NOMEM. */
int as_sampled_add(struct as_sampled *sampled, const struct as_trace_process *process,
                   const struct as_sampled_sum *sum);
/* Adds one sample of a thread of this process. Returns 0 or AS_ERR_NOMEM. */
int as_sampled_add_event(struct as_sampled *sampled, const struct as_trace_process *process,
                         uint32_t location, enum as_activity activity, const char *routine,
                         const struct as_trace_event *event);
void as_sampled_fini(struct as_sampled *sampled);

#endif
