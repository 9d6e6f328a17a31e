/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaps of a thread: intervals in which nothing was recorded, and the reason. Memory is bounded: the
 * gaps closest to each other are merged.
 */
#ifndef AS_ANALYTICS_GAPS_H
#define AS_ANALYTICS_GAPS_H

#include <stdint.h>

#include "base/vec.h"

#define AS_GAPS_MOST       64u  /* of one thread */
#define AS_GAP_OVERWRITTEN 100u /* reason: a ring was full; other reasons are as_trace_off */

struct as_gap {
    int64_t begin_ns, end_ns;
    int64_t off_ns; /* time off within it; less than its length after a merge */
    uint64_t n;     /* number of merged gaps */
    uint32_t why;   /* reason of the first merged gap */
};

/* The gaps of one thread. */
struct as_gaps {
    AS_VEC(struct as_gap) gap; /* by time */
    uint32_t why;              /* reason of the next gap */
};

/* Adds a gap; gaps that touch are merged. Returns 0 or AS_ERR_NOMEM. */
int as_gaps_add(struct as_gaps *gaps, int64_t begin_ns, int64_t end_ns);
/* Returns the text of a reason, for example "by the program". */
const char *as_gap_reason(uint32_t why);

#endif
