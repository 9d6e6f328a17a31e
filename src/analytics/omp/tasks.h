/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks of OpenMP: who waits for those that it made (taskwait) while others run them. A thread that
 * runs tasks meanwhile waits when it has run the last.
 */
#ifndef AS_ANALYTICS_TASKS_H
#define AS_ANALYTICS_TASKS_H

#include "analytics/state/walking.h"

int as_tasks_new(struct as_trace_walk *walk); /* 0 or ASSAY_ERR_NOMEM, as below */
void as_tasks_free(struct as_trace_walk *walk);
int as_tasks_event(struct as_trace_walk *walk, struct as_walker *walker,
                   const struct as_trace_event *event);

#endif
