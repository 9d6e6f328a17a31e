/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces as ui.perfetto.dev and its trace processor read them: packets of track events (Perfetto,
 * protos/perfetto/trace/trace_packet.proto and track_event/, of which field numbers are those that
 * stay). A track for each thread, in one for its process; calls are slices, messages instants of
 * both sides joined by a flow, counters tracks of their own.
 */
#ifndef AS_EXCHANGE_PERFETTO_H
#define AS_EXCHANGE_PERFETTO_H

#include <assay/error.h>

#include "analytics/state/analysis.h"

struct as_perfetto_counts {
    uint64_t slices_n, messages_n, values_n;
    uint64_t unmatched_n; /* messages of which one side alone is known: they are not in the file */
};

/* Errors: IO (what cannot be written; nothing is left then), NOMEM, what reading the trace answers.
 */
int as_perfetto_write(const struct as_trace *trace, const char *path,
                      struct as_perfetto_counts *counts, struct assay_error *err);

#endif
