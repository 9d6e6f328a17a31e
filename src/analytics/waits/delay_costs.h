/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From wait states to their causes: the critical path and delay costs. The critical path is the
 * chain of work and messages that bounds the run time from below. A delay cost is the waiting that
 * one delay causes: direct waits, and waits of threads that wait for the direct ones in turn.
 *
 * Sources: D. Böhme et al., "Identifying the root causes of wait states" (ICPP 2010), and "Scalable
 * critical-path based performance analysis" (IPDPS 2012).
 */
#ifndef AS_ANALYTICS_DELAY_COSTS_H
#define AS_ANALYTICS_DELAY_COSTS_H

#include "analytics/waits/waits.h"

/* Lifetime of a trace thread, in nanoseconds. */
struct as_span {
    int64_t begin_ns, end_ns;
    uint32_t parent; /* trace thread that created it; AS_WAIT_UNKNOWN: unknown */
};

/* An interval of the critical path on one trace thread. */
struct as_path_piece {
    uint32_t location;
    int64_t begin_ns, end_ns;
};

struct as_critical_path {
    AS_VEC(struct as_path_piece) piece; /* from the end of the run to its beginning */
};

/* The cost of the delays of one trace thread at one call. */
struct as_delay_cost {
    uint32_t location, site; /* the delaying trace thread, the call that it delayed */
    uint64_t n;              /* wait states with this direct cause */
    int64_t direct_ns;       /* time in these wait states */
    int64_t total_ns;        /* delay cost: direct and indirect waits, without the part that earlier
                              * causes explain */
    int64_t most_ns;         /* the longest of the direct waits */
};

struct as_delay_cost_list {
    AS_VEC(struct as_delay_cost) blame; /* longest total first */
};

/*
 * Wait states sorted by trace thread and end, shared by the two analyses below. `span` has
 * `location_n` entries. Each function below returns 0 or AS_ERR_NOMEM.
 */
struct as_causes;
int as_causes_new(struct as_causes **out, const struct as_wait_list *waits,
                  const struct as_span *span, uint32_t location_n);
void as_causes_free(struct as_causes **causes);

/* Finds the critical path backwards from the trace thread that ended last. An interval begins at
 * the end of the last wait state of its trace thread. The path goes on at the cause of that wait
 * state, from the arrival of the cause. Pieces join without gaps. */
int as_causes_path(struct as_causes *causes, struct as_critical_path *out);

/*
 * Assigns each wait state to its cause: the trace thread and the call that it delayed. If the cause
 * had waited itself, the same share of the cost goes on to the causes of those waits. Waits before
 * the last synchronisation of the two are not counted. The sums of `total_ns` and of all waits with
 * a cause are equal but for rounding.
 */
int as_causes_blame(struct as_causes *causes, struct as_delay_cost_list *out);

#endif
