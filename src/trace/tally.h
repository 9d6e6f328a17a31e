/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace adds up to: how often each thread was in each routine, how long, and what it moved.
 */
#ifndef AS_TRACE_TALLY_H
#define AS_TRACE_TALLY_H

#include "trace/read.h"

/* Of a routine in a thread. */
struct as_trace_sum {
    const struct as_trace_process *process;
    uint32_t tid;
    struct as_trace_name name;
    uint64_t calls_n;
    int64_t time_ns; /* from enter to leave, of calls that came back; one in itself counts once */
    int64_t most_ns; /* the longest call */
    uint64_t open_n; /* calls that did not come back */
    int64_t sent_b, received_b; /* of messages, collective operations and files (written, read) */
};

struct as_trace_tally {
    AS_VEC(struct as_trace_sum) sum; /* by process and thread, then by time, the longest first */
    uint64_t events_n, lost_n, damaged_n;
    uint64_t unmatched_n; /* leaves of what was not entered */
};

/* Reads all streams to their end. Errors: IO, NOMEM. */
int as_trace_tally_of(const struct as_trace *trace, struct as_trace_tally *out,
                      struct assay_error *err);
void as_trace_tally_fini(struct as_trace_tally *tally);

#endif
