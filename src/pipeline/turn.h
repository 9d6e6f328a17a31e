/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access to the experiment: one pass of a wave holds it at a time. Passes get their first turn in
 * the order of the plan, after all earlier passes have ended or work aside. They get later turns
 * after all earlier passes have ended. The order of writes therefore does not depend on speed.
 */
#ifndef AS_PIPELINE_TURN_H
#define AS_PIPELINE_TURN_H

#include <pthread.h>

#include "pipeline/pipeline.h"

struct as_wave {
    pthread_mutex_t lock; /* guards `at` and `is_held` */
    pthread_cond_t changed;
    enum as_turn_at {
        AS_TURN_AHEAD,
        AS_TURN_HELD,
        AS_TURN_ASIDE,
        AS_TURN_ENDED
    } at[AS_PIPELINE_PASSES_MAX];
    bool is_held;
};

struct as_pass_turn {
    struct as_wave *wave;
    size_t number; /* index in the wave */
};

void as_wave_init(struct as_wave *wave);
void as_wave_fini(struct as_wave *wave);

/* Waits for the turn of a pass, and takes it. */
void as_turn_acquire(struct as_pass_turn *turn);
/* Ends the turn; `to` is ASIDE or ENDED. */
void as_turn_leave(struct as_pass_turn *turn, enum as_turn_at to);
/* Returns true if all passes before this one have ended. */
bool as_turn_is_first(struct as_pass_turn *turn);

#endif
