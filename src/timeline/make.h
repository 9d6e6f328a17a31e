/* SPDX-License-Identifier: Apache-2.0 */
/* Making the index of a window: one reading of the trace. */
#ifndef AS_TIMELINE_MAKE_H
#define AS_TIMELINE_MAKE_H

#include "exchange/evaluated.h"
#include "timeline/index.h"

#define AS_TIMELINE_STEP_LINES 65536u

struct as_timeline_making {
    const struct as_configuration *configuration; /* its last window is evaluated */
    struct as_timeline_identity of;
    bool with_records;                                /* events and messages, too */
    void (*on_step)(void *context, uint64_t lines_n); /* now and then; may be NULL */
    void *context;
    size_t waiting_max; /* items in memory; 0: some 80 MiB of them */
};

/*
 * Writes the index of `trace` to the file `path`, which is replaced when the new one is whole.
 * Memory: 5 KiB for each series, at most 80 MiB and 72 B for each block of the file. Errors: those
 * of reading and evaluating, IO (also a full disk), USAGE (`path` cannot be written).
 */
int as_timeline_make(struct as_evaluated *trace, const struct as_timeline_making *making,
                     const char *path, struct as_error *err);

#endif
