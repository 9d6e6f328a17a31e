/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples among the events of a trace, added up by thread, by what the thread did then, by the
 * routine that it was in, and by place and caller.
 */
#ifndef AS_ANALYTICS_SAMPLED_H
#define AS_ANALYTICS_SAMPLED_H

#include "analytics/state/analysis.h"
#include "base/index.h"

struct as_sampled_place {
    const char *module; /* the trace's; NULL: not known */
    uint64_t in_file;   /* address there, of a caller that to which it returns; without a module as
                           it is in the process */
    bool is_caller;
    const struct as_trace_place *place; /* of an imported trace; NULL: none */
};

struct as_sampled_sum {
    uint32_t location;
    enum as_activity activity;
    const char *routine;    /* the outermost call; NULL: in none */
    uint32_t place, caller; /* of `place`; AS_INDEX_NONE: none is known */
    uint64_t n;
    int64_t time_ns; /* of CPU time that they are for */
    /* Of the first of them: so many addresses in the process (two at most). */
    unsigned address_n;
    uint64_t address[2];
};

struct as_sampled {
    AS_VEC(struct as_sampled_place) place;
    AS_VEC(struct as_sampled_sum) sum; /* in the order of their first samples */
    struct as_index places, sums;
};

/* So many samples that add up to `sum`, whose places are those of its addresses. 0 or NOMEM. */
int as_sampled_add(struct as_sampled *sampled, const struct as_trace_process *process,
                   const struct as_sampled_sum *sum);
/* A sample of a thread of this process. 0 or ASSAY_ERR_NOMEM. */
int as_sampled_add_event(struct as_sampled *sampled, const struct as_trace_process *process,
                         uint32_t location, enum as_activity activity, const char *routine,
                         const struct as_trace_event *event);
void as_sampled_fini(struct as_sampled *sampled);

#endif
