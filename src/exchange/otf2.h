/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes traces as OTF2 archives (Open Trace Format 2; D. Eschweiler et al., "Open Trace Format 2:
 * the next generation of scalable trace formats and support libraries", ParCo 2011). Uses the OTF2
 * library. Each thread is an OTF2 location, each process a location group.
 */
#ifndef AS_EXCHANGE_OTF2_H
#define AS_EXCHANGE_OTF2_H

#include "analytics/state/analysis.h"
#include "base/error.h"

struct as_otf2_counts {
    uint64_t events_n;
    uint64_t left_out_n; /* events of kinds that are not written */
};

/*
 * Creates the directory `path`, which must not exist, with traces.otf2 and its files. Errors: IO
 * (the directory exists or cannot be written), NOMEM, and those of reading the trace.
 */
int as_otf2_write(const struct as_trace *trace, const char *path, struct as_otf2_counts *counts,
                  struct as_error *err);

#endif
