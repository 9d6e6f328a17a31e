/* SPDX-License-Identifier: Apache-2.0 */
/* What the wait states and the critical path of an analysis add up to. */
#ifndef AS_ANALYTICS_SUMS_H
#define AS_ANALYTICS_SUMS_H

#include "analytics/state/analysis.h"

/* Waits of one kind in one call, of one thread or of all. */
struct as_wait_sum {
    uint8_t kind; /* as_wait_kind */
    uint32_t site;
    uint32_t location; /* of all: which waited longest */
    uint64_t n;
    int64_t time_ns, most_ns; /* in all, and the longest */
    int64_t location_ns;      /* of `location` */
};

struct as_wait_sums {
    const struct as_analysis *analysis;
    AS_VEC(struct as_wait_sum) of_call, of_location; /* most time first */
    int64_t waited_ns;                               /* all waits */
    int64_t *path_ns;    /* by location: its part of the critical path */
    int64_t *waiting_ns; /* by location: in waits, once where they overlap */
    int64_t *late_ns;    /* by location: while anybody waited for it */
    int64_t *blame_ns;   /* by place in the list of blames: while anybody waited for that */
};

/* 0 or ASSAY_ERR_NOMEM. `analysis` is borrowed. */
int as_wait_sums_of(const struct as_analysis *analysis, struct as_wait_sums *out,
                    struct assay_error *err);
void as_wait_sums_fini(struct as_wait_sums *sums);

#endif
