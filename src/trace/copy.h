/* SPDX-License-Identifier: Apache-2.0 */
/* Copies an event from one stream to another, with a new time. */
#ifndef AS_TRACE_COPY_H
#define AS_TRACE_COPY_H

#include <stdbool.h>

#include "trace/read.h"
#include "trace/write.h"

/* Writes `event` at `tick` of the writer's clock; 0 = the time of the previous record. Returns
 * false if the record is too long, or if the writer has stopped. */
bool as_trace_copy_event(struct as_trace_writer *w, uint64_t tick,
                         const struct as_trace_event *event);

#endif
