/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the wait states and of the critical path of an analysis. */
#ifndef AS_ANALYTICS_SUMS_H
#define AS_ANALYTICS_SUMS_H

#include "analytics/state/analysis.h"

/* Wait states of one kind in one call, of one thread or of all. */
struct as_wait_sum {
    uint8_t kind; /* as_wait_kind */
    uint32_t site;
    uint32_t location; /* of a sum over all threads: the thread that waited longest */
    uint64_t n;
    int64_t time_ns, most_ns; /* total, and the longest wait */
    int64_t location_ns;      /* waiting time of `location` */
};

struct as_wait_sums {
    const struct as_analysis *analysis;
    AS_VEC(struct as_wait_sum) of_call, of_location; /* most time first */
    int64_t waited_ns;                               /* time in all wait states */
    int64_t *path_ns;    /* by trace thread: time on the critical path */
    int64_t *waiting_ns; /* by trace thread: time in wait states; overlapping ones count once */
    int64_t *late_ns;    /* by trace thread: time in which another thread waited for it */
    int64_t *blame_ns;   /* by index in the delay costs: time in which a thread waited for that
                          * cause */
};

/* Computes the sums; `analysis` is borrowed. Returns 0 or AS_ERR_NOMEM. */
int as_wait_sums_of(const struct as_analysis *analysis, struct as_wait_sums *out,
                    struct as_error *err);
void as_wait_sums_fini(struct as_wait_sums *sums);

#endif
