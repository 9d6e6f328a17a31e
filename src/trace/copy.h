/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an event that was read from a stream to another stream, at a time of its own. */
#ifndef AS_TRACE_COPY_H
#define AS_TRACE_COPY_H

#include <stdbool.h>

#include "trace/read.h"
#include "trace/write.h"

/* `tick` is of the writer's clock; 0: the time of the record before. Returns false if the record
 * is too long or nothing is written any more. */
bool as_trace_copy_event(struct as_trace_writer *w, uint64_t tick,
                         const struct as_trace_event *event);

#endif
