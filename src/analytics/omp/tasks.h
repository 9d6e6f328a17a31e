/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenMP tasks: waits at taskwait and taskgroup while other threads run the tasks. If the waiting
 * thread runs tasks itself, its wait begins at the end of the last of them.
 */
#ifndef AS_ANALYTICS_TASKS_H
#define AS_ANALYTICS_TASKS_H

#include "analytics/state/walking.h"

int as_tasks_new(struct as_trace_walk *walk); /* returns 0 or AS_ERR_NOMEM, as below */
void as_tasks_free(struct as_trace_walk *walk);
int as_tasks_event(struct as_trace_walk *walk, struct as_walker *walker,
                   const struct as_trace_event *event);

#endif
