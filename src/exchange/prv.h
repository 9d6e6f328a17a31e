/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes traces as Paraver files. A .prv has states, events and communications. A .pcf has labels
 * of their numbers, and a .row has names of threads. Format: Barcelona Supercomputing Center,
 * "Paraver: traceview and file format".
 */
#ifndef AS_EXCHANGE_PRV_H
#define AS_EXCHANGE_PRV_H

#include "analytics/state/analysis.h"
#include "base/error.h"

struct as_prv_counts {
    uint64_t states_n, events_n, communications_n;
    uint64_t unmatched_n; /* messages with one known side, which are not written */
};

/*
 * Writes `path`, which ends in .prv, and the other two files beside it. Errors: IO (nothing is left
 * then), NOMEM, and those of reading the trace.
 */
int as_prv_write(const struct as_trace *trace, const char *path, struct as_prv_counts *counts,
                 struct as_error *err);

#endif
