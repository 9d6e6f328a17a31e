/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When nothing was recorded of a thread, and why. Memory is bounded: of many such times those that
 * lie closest to each other are told as one.
 */
#ifndef AS_ANALYTICS_GAPS_H
#define AS_ANALYTICS_GAPS_H

#include <stdint.h>

#include "base/vec.h"

#define AS_GAPS_MOST       64u  /* of one thread */
#define AS_GAP_OVERWRITTEN 100u /* why: a ring had no room; the others are as_trace_off */

struct as_gap {
    int64_t begin_ns, end_ns;
    int64_t off_ns; /* of that; less where several are told as one */
    uint64_t n;     /* that it stands for */
    uint32_t why;   /* of the first */
};

/* Of a thread. */
struct as_gaps {
    AS_VEC(struct as_gap) gap; /* by time */
    uint32_t why;              /* of what comes */
};

/* Nothing is recorded from then to then; those that touch are one. 0 or ASSAY_ERR_NOMEM. */
int as_gaps_add(struct as_gaps *gaps, int64_t begin_ns, int64_t end_ns);
/* "by the program", ... */
const char *as_gap_reason(uint32_t why);

#endif
