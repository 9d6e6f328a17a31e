/* SPDX-License-Identifier: Apache-2.0 */
/* Access to the experiment; see turn.h. */
#include "pipeline/turn.h"

#include <assert.h>

void as_wave_init(struct as_wave *wave)
{
    *wave = (struct as_wave){0};
    pthread_mutex_init(&wave->lock, NULL);
    pthread_cond_init(&wave->changed, NULL);
}

void as_wave_fini(struct as_wave *wave)
{
    assert(!wave->is_held);
    pthread_cond_destroy(&wave->changed);
    pthread_mutex_destroy(&wave->lock);
}

static bool all_before(const struct as_pass_turn *turn, enum as_turn_at at_least)
{
    for (size_t i = 0; i < turn->number; i++)
        if (turn->wave->at[i] < at_least)
            return false;
    return true;
}

void as_turn_acquire(struct as_pass_turn *turn)
{
    struct as_wave *wave = turn->wave;

    pthread_mutex_lock(&wave->lock);
    const enum as_turn_at others =
        wave->at[turn->number] == AS_TURN_AHEAD ? AS_TURN_ASIDE : AS_TURN_ENDED;
    while (wave->is_held || !all_before(turn, others))
        pthread_cond_wait(&wave->changed, &wave->lock);
    wave->is_held = true;
    wave->at[turn->number] = AS_TURN_HELD;
    pthread_mutex_unlock(&wave->lock);
}

void as_turn_leave(struct as_pass_turn *turn, enum as_turn_at to)
{
    struct as_wave *wave = turn->wave;

    pthread_mutex_lock(&wave->lock);
    assert(wave->is_held && wave->at[turn->number] == AS_TURN_HELD);
    wave->is_held = false;
    wave->at[turn->number] = to;
    pthread_cond_broadcast(&wave->changed);
    pthread_mutex_unlock(&wave->lock);
}

bool as_turn_is_first(struct as_pass_turn *turn)
{
    pthread_mutex_lock(&turn->wave->lock);
    const bool is_first = all_before(turn, AS_TURN_ENDED);
    pthread_mutex_unlock(&turn->wave->lock);
    return is_first;
}

int as_pass_aside(struct as_pass_job *job, int (*work)(void *context, struct as_error *),
                  void *context, struct as_error *err)
{
    as_turn_leave(job->turn, AS_TURN_ASIDE);
    const int rc = work(context, err);
    as_turn_acquire(job->turn);
    return rc;
}
