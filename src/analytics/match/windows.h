/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One-sided communication: who waits for whom at windows. Definitions are those of Scalasca's
 * patterns: fences, and making and freeing windows, wait for all; post, start, complete and wait
 * are matched pair by pair, by their number; of locks it is known who gave them back. A window is
 * the same in all processes by its number among those of its communicator.
 */
#ifndef AS_ANALYTICS_WINDOWS_H
#define AS_ANALYTICS_WINDOWS_H

#include "analytics/state/walking.h"

/* 0 or ASSAY_ERR_NOMEM, as below. */
int as_windows_new(struct as_trace_walk *walk);
void as_windows_free(struct as_trace_walk *walk);

/* A call says it at the moment of its enter: what others may wait for. */
int as_windows_event(struct as_trace_walk *walk, struct as_walker *walker,
                     const struct as_trace_event *event);
/* The call that record it is left: what it waited for. */
int as_windows_left(struct as_trace_walk *walk, struct as_walker *walker,
                    const struct as_open_call *frame, uint32_t site, int64_t leave_ns,
                    const struct as_call_record *record);

#endif
