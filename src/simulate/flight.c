/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in flight: the ranks that wait for them, and their end. */
#include <assert.h>

#include "base/error.h"
#include "simulate/engine.h"

void as_sim_drop(struct as_replay *sim, uint32_t message)
{
    assert(message < sim->message.n);
    struct as_in_flight *m = &sim->message.at[message];
    if (--m->references)
        return;
    m->next = sim->free_message;
    sim->free_message = message;
    sim->message_n--;
}

static int64_t overlap_ns(int64_t begin_ns, int64_t end_ns, int64_t from_ns, int64_t to_ns)
{
    const int64_t begin = begin_ns > from_ns ? begin_ns : from_ns;
    const int64_t end = end_ns < to_ns ? end_ns : to_ns;
    return end > begin ? end - begin : 0;
}

/* A rank waited for it from now to its end. */
static void count_waiting(struct as_replay *sim, uint32_t rank, const struct as_in_flight *m)
{
    struct as_rank_state *r = &sim->rank[rank];
    struct as_simulated_rank *sum = &sim->out->rank.at[rank];
    if (m->end_ns <= r->now_ns)
        return;
    const int64_t queued_ns = overlap_ns(r->now_ns, m->end_ns, m->ready_ns, m->begin_ns);
    const int64_t transfer_ns = overlap_ns(r->now_ns, m->end_ns, m->begin_ns, m->end_ns);
    *(m->queued_for == AS_QUEUED_FOR_LINK ? &sum->link_ns : &sum->bus_ns) += queued_ns;
    sum->transfer_ns += transfer_ns;
    sum->blocked_ns += m->end_ns - r->now_ns - queued_ns - transfer_ns;
    r->now_ns = m->end_ns;
}

void as_sim_wait_message(struct as_replay *sim, uint32_t rank, uint32_t message, bool is_sender)
{
    assert(message < sim->message.n);
    struct as_in_flight *m = &sim->message.at[message];
    if (m->end_ns != AS_UNKNOWN_NS) {
        count_waiting(sim, rank, m);
        as_sim_drop(sim, message);
        return;
    }
    sim->rank[rank].waits_for = AS_WAITS_FOR_MESSAGE;
    sim->rank[rank].item = message;
    *(is_sender ? &m->is_sender_waiting : &m->is_receiver_waiting) = true;
}

static int wake_rank(struct as_replay *sim, uint32_t rank, uint32_t message)
{
    struct as_rank_state *r = &sim->rank[rank];
    count_waiting(sim, rank, &sim->message.at[message]);
    as_sim_drop(sim, message);
    r->waits_for = AS_WAITS_FOR_NOTHING;
    return as_due_push(&sim->timers, r->now_ns, rank, rank);
}

int as_sim_transferred(struct as_replay *sim, uint32_t message)
{
    assert(message < sim->message.n);
    const struct as_in_flight m = sim->message.at[message];
    sim->message.at[message].is_sender_waiting = sim->message.at[message].is_receiver_waiting =
        false;
    if (m.is_sender_waiting && wake_rank(sim, m.from, message) < 0)
        return as_error_nomem(sim->err, "the ranks");
    if (m.is_receiver_waiting && wake_rank(sim, m.to, message) < 0)
        return as_error_nomem(sim->err, "the ranks");
    return 0;
}
