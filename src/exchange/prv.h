/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces as the files of Paraver: a .prv with states, events and communications, a .pcf that names
 * their numbers, a .row that names threads. After the description of the format by the Barcelona
 * Supercomputing Center ("Paraver: traceview and file format").
 */
#ifndef AS_EXCHANGE_PRV_H
#define AS_EXCHANGE_PRV_H

#include <assay/error.h>

#include "analytics/state/analysis.h"

struct as_prv_counts {
    uint64_t states_n, events_n, communications_n;
    uint64_t unmatched_n; /* messages of which one side alone is known: they are not in the file */
};

/*
 * `path` ends in .prv; the other two stand beside it. Errors: IO (what cannot be written; nothing
 * is left then), NOMEM, what reading the trace answers.
 */
int as_prv_write(const struct as_trace *trace, const char *path, struct as_prv_counts *counts,
                 struct assay_error *err);

#endif
