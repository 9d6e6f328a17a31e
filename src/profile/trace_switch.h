/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches a trace on and off from outside the program: after a delay, until a time limit, or while
 * a file exists. The program reads a shared page and no clock.
 */
#ifndef AS_PROFILE_TRACE_SWITCH_H
#define AS_PROFILE_TRACE_SWITCH_H

#include <pthread.h>

#include "agent/shared/trace_part.h"
#include "profile/profile.h"

struct as_trace_switch {
    struct as_switch_part *part;
    const struct as_trace_options *options;
    bool by_counter;  /* time stamps are those of the time-stamp counter (TSC) */
    int64_t begin_ns; /* start of the program, CLOCK_MONOTONIC */
    bool has_thread, is_over;
    pthread_t thread;
    pthread_mutex_t lock; /* of `is_over` */
    pthread_cond_t end;
};

/* Returns true if the options contain a switch, from outside or inside. */
bool as_trace_switch_is_wanted(const struct as_trace_options *options);
/* Prepares the shared page before the program starts. `options` must outlive `it`. */
void as_trace_switch_fill(struct as_trace_switch *it, struct as_switch_part *part,
                          const struct as_trace_options *options, bool by_counter);
/* Starts the thread that switches, just before the program starts. Returns 0 or -errno. */
int as_trace_switch_start(struct as_trace_switch *it);
/* Stops the thread. An empty switch is allowed. */
void as_trace_switch_stop(struct as_trace_switch *it);

#endif
