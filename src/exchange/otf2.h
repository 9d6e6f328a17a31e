/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces as OTF2 archives (Open Trace Format 2; D. Eschweiler et al., "Open Trace Format 2: the
 * next generation of scalable trace formats and support libraries", ParCo 2011), by the library of
 * its makers: a location for each thread, a location group for each process.
 */
#ifndef AS_EXCHANGE_OTF2_H
#define AS_EXCHANGE_OTF2_H

#include <assay/error.h>

#include "analytics/state/analysis.h"

struct as_otf2_counts {
    uint64_t events_n;
    uint64_t left_out_n; /* events of kinds that are not written */
};

/*
 * Makes the directory `path`, which must not exist, with traces.otf2 and what it needs. Errors: IO
 * (there is such a directory; it cannot be written), NOMEM, what reading the trace answers.
 */
int as_otf2_write(const struct as_trace *trace, const char *path, struct as_otf2_counts *counts,
                  struct assay_error *err);

#endif
