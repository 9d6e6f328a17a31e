/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes traces for ui.perfetto.dev and `trace_processor` as packets of track events. Each thread
 * has a track inside that of its process. Calls are slices, counters have their own tracks. A
 * message is two instants joined by a flow. Format: Perfetto,
 * protos/perfetto/trace/trace_packet.proto and track_event/; the field numbers are stable.
 */
#ifndef AS_EXCHANGE_PERFETTO_H
#define AS_EXCHANGE_PERFETTO_H

#include "analytics/state/analysis.h"
#include "base/error.h"

struct as_perfetto_counts {
    uint64_t slices_n, messages_n, values_n;
    uint64_t unmatched_n; /* messages with one known side, which are not written */
};

/* Writes the file `path`. Errors: IO (nothing is left then), NOMEM, and those of reading the
 * trace. */
int as_perfetto_write(const struct as_trace *trace, const char *path,
                      struct as_perfetto_counts *counts, struct as_error *err);

#endif
