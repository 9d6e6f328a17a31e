/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pauses of tracing. State from before a pause is unknown after it: calls end at the pause, and
 * arrivals at barriers and regions are forgotten. Messages on their way count as sent without a
 * wait. So no wait state spans a pause.
 */
#include "analytics/state/walking.h"
#include "base/error.h"

static int switch_off(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns)
{
    walk->was_off = true;
    AS_TRY(as_doing_off(walk, walker, ns));
    as_teams_off(walk, walker);
    as_threads_off(walk, walker);
    return as_mpi_off(walk, walker);
}

int as_off_event(struct as_trace_walk *walk, struct as_walker *walker,
                 const struct as_trace_event *event)
{
    if (event->kind == AS_TRACE_OFF)
        return walker->is_off ? 0 : switch_off(walk, walker, event->raw_ns);
    return walker->is_off ? as_doing_on(walk, walker, event->raw_ns) : 0;
}
