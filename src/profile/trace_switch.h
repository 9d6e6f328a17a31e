/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace is switched from outside, by who started the program: it begins after a delay, ends after
 * a limit of time, goes on while a file is there. Programs look at a shared page and at no clock.
 */
#ifndef AS_PROFILE_TRACE_SWITCH_H
#define AS_PROFILE_TRACE_SWITCH_H

#include <assay/profile.h>
#include <pthread.h>

#include "agent/shared/trace_part.h"

struct as_trace_switch {
    struct as_switch_part *part;
    const struct assay_trace_options *options;
    bool by_counter;  /* stamps are the processor's */
    int64_t begin_ns; /* CLOCK_MONOTONIC, of the program */
    bool has_thread, is_over;
    pthread_t thread;
    pthread_mutex_t lock; /* of `is_over` */
    pthread_cond_t end;
};

/* Whether there is anything to switch, by whomever. */
bool as_trace_switch_is_wanted(const struct assay_trace_options *options);
/* Before the program is there; `options` stay. */
void as_trace_switch_fill(struct as_trace_switch *it, struct as_switch_part *part,
                          const struct assay_trace_options *options, bool by_counter);
/* It is about to be let go. 0, or -errno: nobody will look. */
int as_trace_switch_start(struct as_trace_switch *it);
/* No more looks. An empty one is fine. */
void as_trace_switch_stop(struct as_trace_switch *it);

#endif
