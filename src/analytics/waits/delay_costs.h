/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From wait states to their causes: the critical path, which is the chain of work and messages that
 * the run could not have been shorter than (D. Böhme et al., "Identifying the root causes of wait
 * states in large-scale parallel applications", ICPP 2010, and "Scalable critical-path based
 * performance analysis", IPDPS 2012), and what each late-comer costs: those it makes wait, and
 * those that wait because those were late in turn.
 */
#ifndef AS_ANALYTICS_DELAY_COSTS_H
#define AS_ANALYTICS_DELAY_COSTS_H

#include "analytics/waits/waits.h"

/* When a location was there; times in nanoseconds. */
struct as_span {
    int64_t begin_ns, end_ns;
    uint32_t parent; /* which made it, AS_WAIT_UNKNOWN: none that is known */
};

/* A stretch of the critical path. */
struct as_path_piece {
    uint32_t location;
    int64_t begin_ns, end_ns;
};

struct as_path {
    AS_VEC(struct as_path_piece) piece; /* from the end to the beginning */
};

/* What comes late somewhere costs others. */
struct as_delay_cost {
    uint32_t location, site; /* who was late, to which call */
    uint64_t n;              /* waits of others for it */
    int64_t direct_ns;       /* of waiting for it */
    int64_t total_ns;        /* of waiting that it explains: without what it waited for itself, with
                                what those cause who waited for it */
    int64_t most_ns;         /* the longest of those waits */
};

struct as_delay_cost_list {
    AS_VEC(struct as_delay_cost) blame; /* most total time first */
};

/*
 * Where waits ended: their order by location and end, made once for both. `location_n` spans.
 * Each of these: 0 or ASSAY_ERR_NOMEM.
 */
struct as_causes;
int as_causes_new(struct as_causes **out, const struct as_wait_list *waits,
                  const struct as_span *span, uint32_t location_n);
void as_causes_free(struct as_causes **causes);

/* Backwards from the location that ended last: a stretch begins where its location stopped waiting,
 * and goes on at who was waited for, from the moment that it came. Pieces join without gaps. */
int as_causes_path(struct as_causes *causes, struct as_path *out);

/*
 * A wait is put down to whom was waited for, to the call that it came late to; as far as that one
 * had itself waited since the two were even (the waiting one last waited, or was waited for by the
 * other), to whom it waited for instead, in proportion. The sums of `total_ns` and of all waits
 * that have a cause are equal (but for rounding).
 */
int as_causes_blame(struct as_causes *causes, struct as_delay_cost_list *out);

#endif
