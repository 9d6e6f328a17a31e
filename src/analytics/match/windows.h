/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait states of one-sided communication, by the definitions of Scalasca's patterns. Fences, and
 * creation and release of windows, wait for all members. Post, start, complete and wait match pair
 * by pair, by their number. A lock waits for the process that released it last. A window has the
 * same number among those of its communicator in all processes.
 */
#ifndef AS_ANALYTICS_WINDOWS_H
#define AS_ANALYTICS_WINDOWS_H

#include "analytics/state/walking.h"

/* Returns 0 or AS_ERR_NOMEM, as do the functions below. */
int as_windows_new(struct as_trace_walk *walk);
void as_windows_free(struct as_trace_walk *walk);

/* Receives a record of a window call at the time of its enter: calls of other processes may wait
 * for it. */
int as_windows_event(struct as_trace_walk *walk, struct as_walker *walker,
                     const struct as_trace_event *event);
/* Receives the leave of the call that wrote `record`, and adds its wait states. */
int as_windows_left(struct as_trace_walk *walk, struct as_walker *walker,
                    const struct as_open_call *frame, uint32_t site, int64_t leave_ns,
                    const struct as_call_record *record);

#endif
