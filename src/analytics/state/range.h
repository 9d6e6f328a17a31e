/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a trace that is analysed: between two times, or calls of regions. */
#ifndef AS_ANALYTICS_RANGE_H
#define AS_ANALYTICS_RANGE_H

#include "analytics/waits/delay_costs.h"
#include "base/error.h"
#include "trace/read.h"

enum as_range_kind {
    AS_RANGE_OPEN, /* the begin or end of the trace */
    AS_RANGE_TIME,
    AS_RANGE_REGION
};

struct as_range_edge {
    enum as_range_kind kind;
    int64_t ns;         /* since the trace began */
    const char *region; /* of first threads; its first call begins the range, the last ends it */
    uint64_t call;      /* this call instead, from 1; 0: first or last */
};

struct as_range_wanted {
    struct as_range_edge from, to;
};

/* Fills `*out`, in the clock of the trace; AS_INTEREST_ALL if both edges are open. A call of a
 * region begins when the first rank enters and ends when the last leaves. Streams are at their
 * beginning then. Errors: NOT_FOUND (of the region, or no time of the trace), IO, NOMEM. */
int as_range_find(const struct as_trace *trace, const struct as_range_wanted *wanted,
                  struct as_span *out, struct as_error *err);

/* Sets the error of a range without any time of a trace that lasts `trace_ns`; NOT_FOUND. */
int as_range_empty(int64_t trace_ns, struct as_error *err);

#endif
