/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a run that efficiencies are about. */
#ifndef AS_ANALYTICS_INTEREST_H
#define AS_ANALYTICS_INTEREST_H

#include "analytics/waits/delay_costs.h"
#include "trace/read.h"

#define AS_INTEREST_ALL ((struct as_span){.begin_ns = INT64_MIN, .end_ns = INT64_MAX})

/* Fills `*out`; AS_INTEREST_ALL if a rank lacks MPI_Init or MPI_Finalize, or the trace lacks ranks.
 * Streams are at their beginning then. Errors: IO, NOMEM. */
int as_interest_find(const struct as_trace *trace, struct as_span *out, struct as_error *err);

static inline bool as_interest_is_part(const struct as_span *interest)
{
    return interest->begin_ns != INT64_MIN;
}

static inline void as_span_clip(struct as_span *span, const struct as_span *to)
{
    span->begin_ns = span->begin_ns > to->begin_ns ? span->begin_ns : to->begin_ns;
    span->end_ns = span->end_ns < to->end_ns ? span->end_ns : to->end_ns;
}

static inline bool as_moment_is_in(int64_t ns, const struct as_span *range)
{
    return ns >= range->begin_ns && ns < range->end_ns;
}

/* Returns whether the span has a part in the range; one without length, its moment. */
static inline bool as_span_meets(const struct as_span *span, const struct as_span *range)
{
    return span->begin_ns < range->end_ns &&
           (span->end_ns > range->begin_ns || span->begin_ns >= range->begin_ns);
}

#endif
