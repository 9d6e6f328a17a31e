/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns with the experiment, which one pass of a wave has at a time. Passes take their first turn
 * in the order of the plan, each when those before it have computed aside or ended, and a later one
 * when those before it have ended: what is written does not depend on who was faster.
 */
#ifndef AS_PIPELINE_TURN_H
#define AS_PIPELINE_TURN_H

#include <pthread.h>

#include <assay/pipeline.h>

struct as_wave {
    pthread_mutex_t lock; /* guards `at` and `held` */
    pthread_cond_t changed;
    enum as_turn_at {
        AS_TURN_AHEAD,
        AS_TURN_HELD,
        AS_TURN_ASIDE,
        AS_TURN_ENDED
    } at[ASSAY_PIPELINE_PASSES_MAX];
    bool is_held;
};

struct assay_pass_turn {
    struct as_wave *wave;
    size_t number; /* in the wave */
};

void as_wave_init(struct as_wave *wave);
void as_wave_fini(struct as_wave *wave);

void as_turn_acquire(struct assay_pass_turn *turn);
/* `to`: ASIDE or ENDED. */
void as_turn_leave(struct assay_pass_turn *turn, enum as_turn_at to);
/* Whether all passes before this one have ended. */
bool as_turn_is_first(struct assay_pass_turn *turn);

#endif
