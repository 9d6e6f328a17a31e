/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases of a run: the regions that the first thread of a process enters, all calls together and
 * call by call (iterations). The n-th call of a rank belongs to the n-th calls of the others.
 */
#ifndef AS_ANALYTICS_PHASES_H
#define AS_ANALYTICS_PHASES_H

#include <stdbool.h>
#include <stdint.h>

struct as_trace_walk;
struct as_walker;
struct as_open_call;
struct as_phases;

/* 0 or AS_ERR_NOMEM, as all below. */
int as_phases_new(struct as_trace_walk *walk);
void as_phases_free(struct as_phases **phases);

/* A thread is in a routine from `ns` on, or has left it; other routines than regions of first
 * threads are passed over. */
int as_phases_enter(struct as_trace_walk *walk, struct as_walker *walker,
                    const struct as_open_call *frame, int64_t ns);
int as_phases_leave(struct as_trace_walk *walk, struct as_walker *walker,
                    const struct as_open_call *frame, int64_t ns);

/* Adds what a thread did since it was asked last, in `activity` (enum as_activity). */
void as_phases_add(struct as_trace_walk *walk, struct as_walker *walker, unsigned activity,
                   int64_t begin_ns, int64_t end_ns);
/* Makes the computing of a thread idle time. */
void as_phases_become_idle(struct as_trace_walk *walk, const struct as_walker *walker);

/* Returns whether any process entered a region. */
bool as_phases_are_there(const struct as_trace_walk *walk);
/* Fills `walk->out->phase`: of each region all calls, then its iterations. */
int as_phases_conclude(struct as_trace_walk *walk);

#endif
