/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides of messages: matching by communicator, ranks and tag, in order; waiting for them. */
#include <string.h>

#include "base/error.h"
#include "base/index.h"
#include "simulate/engine.h"

/* ---- Messages in flight ---------------------------------------------------------------------- */

static int add_in_flight(struct as_replay *sim, uint32_t *out)
{
    if (sim->free_message != AS_NO_MESSAGE) {
        *out = sim->free_message;
        sim->free_message = sim->message.at[*out].next;
    } else {
        if (sim->message.n >= AS_NO_MESSAGE - 1 ||
            as_vec_push(&sim->message, (struct as_in_flight){0}) < 0)
            return as_error_nomem(sim->err, "the messages in flight");
        *out = (uint32_t)(sim->message.n - 1);
    }
    sim->message.at[*out] = (struct as_in_flight){.sent_ns = AS_UNKNOWN_NS,
                                                  .post_ns = AS_UNKNOWN_NS,
                                                  .end_ns = AS_UNKNOWN_NS,
                                                  .next = AS_NO_MESSAGE};
    if (++sim->message_n > sim->out->in_flight_max)
        sim->out->in_flight_max = sim->message_n;
    return 0;
}

/* ---- Matching -------------------------------------------------------------------------------- */

static bool is_same_channel(const struct as_in_flight *a, const struct as_in_flight *b)
{
    return a->from == b->from && a->to == b->to && a->comm == b->comm && a->tag == b->tag;
}

static struct as_chain *chain_of(const struct as_replay *sim, const struct as_in_flight *m)
{
    const uint64_t hash =
        as_hash_mix((uint64_t)m->from << 32 | m->to, (uint64_t)m->comm << 32 | (uint32_t)m->tag);
    return &sim->chain[(hash ^ hash >> 32) & (sim->chain_n - 1)];
}

static void append_to_chain(struct as_replay *sim, uint32_t message)
{
    struct as_in_flight *m = &sim->message.at[message];
    struct as_chain *chain = chain_of(sim, m);
    m->next = AS_NO_MESSAGE;
    if (chain->first == AS_NO_MESSAGE)
        chain->first = message;
    else
        sim->message.at[chain->last].next = message;
    chain->last = message;
}

#define CHAINS_AT_FIRST 1024u

/* Twice as many chains; those of one channel stay in order. */
static int grow_chains(struct as_replay *sim)
{
    const size_t old_n = sim->chain_n;
    struct as_chain *old = sim->chain;
    const size_t n = old_n ? 2 * old_n : CHAINS_AT_FIRST;
    struct as_chain *chain = as_malloc(n * sizeof *chain);
    if (!chain)
        return as_error_nomem(sim->err, "the messages in flight");
    memset(chain, 0xff, n * sizeof *chain); /* AS_NO_MESSAGE */
    sim->chain = chain;
    sim->chain_n = n;
    for (size_t i = 0; i < old_n; i++)
        for (uint32_t at = old[i].first, next; at != AS_NO_MESSAGE; at = next) {
            next = sim->message.at[at].next;
            append_to_chain(sim, at);
        }
    as_free(old);
    return 0;
}

static int add_unmatched(struct as_replay *sim, uint32_t message)
{
    if (sim->unmatched_n >= sim->chain_n)
        AS_TRY(grow_chains(sim));
    append_to_chain(sim, message);
    sim->unmatched_n++;
    return 0;
}

static void unlink_unmatched(struct as_replay *sim, struct as_chain *chain, uint32_t before,
                             uint32_t message)
{
    const uint32_t next = sim->message.at[message].next;
    if (before == AS_NO_MESSAGE)
        chain->first = next;
    else
        sim->message.at[before].next = next;
    if (chain->last == message)
        chain->last = before;
    sim->message.at[message].next = AS_NO_MESSAGE;
    sim->unmatched_n--;
}

/* Takes the oldest of the other side off its chain; AS_NO_MESSAGE: there is none. Unmatched ones of
 * a channel are all of one side. */
static uint32_t pop_unmatched_partner(struct as_replay *sim, const struct as_in_flight *like,
                                      bool is_send)
{
    if (!sim->unmatched_n)
        return AS_NO_MESSAGE;
    struct as_chain *chain = chain_of(sim, like);
    for (uint32_t before = AS_NO_MESSAGE, at = chain->first; at != AS_NO_MESSAGE;
         before = at, at = sim->message.at[at].next) {
        const struct as_in_flight *m = &sim->message.at[at];
        if (!is_same_channel(m, like))
            continue;
        if ((m->sent_ns == AS_UNKNOWN_NS) != is_send)
            return AS_NO_MESSAGE;
        unlink_unmatched(sim, chain, before, at);
        return at;
    }
    return AS_NO_MESSAGE;
}

/* ---- Both sides ------------------------------------------------------------------------------ */

static int add_request_row(struct as_replay *sim, uint32_t rank, uint8_t kind,
                           const struct as_action *action, uint32_t item)
{
    struct as_request_row *row =
        as_numbered_new(&sim->requests, sizeof *row, rank, kind, action->request);
    if (!row)
        return as_error_nomem(sim->err, "the requests");
    row->item = item;
    row->comm = action->comm;
    return 0;
}

static int64_t later_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* How the sender goes on: only a rendezvous makes it wait. */
static int end_send(struct as_replay *sim, uint32_t rank, const struct as_action *action,
                    uint32_t message, bool is_rendezvous)
{
    if (!is_rendezvous || action->request == AS_REQUEST_DETACHED)
        as_sim_drop(sim, message);
    else if (action->request == AS_REQUEST_BLOCKING)
        as_sim_wait_message(sim, rank, message, true);
    else
        return add_request_row(sim, rank, AS_REQUEST_SEND, action, message);
    return 0;
}

int as_sim_send(struct as_replay *sim, uint32_t rank, const struct as_action *action)
{
    struct as_rank_state *r = &sim->rank[rank];
    const struct as_rank_state *partner = &sim->rank[action->partner];
    const uint8_t network = r->node == partner->node         ? AS_NETWORK_INSIDE
                            : r->machine == partner->machine ? AS_NETWORK_BETWEEN
                                                             : AS_NETWORK_WIDE;
    const struct as_dedicated_link *link =
        network == AS_NETWORK_WIDE && sim->model->link_n
            ? as_machine_link_of(sim->model, r->machine, partner->machine, action->tag,
                                 action->sent_b)
            : NULL;
    const int64_t latency_ns =
        link ? link->network.latency_ns : sim->model->network[network].latency_ns;
    const struct as_in_flight like = {
        .comm = action->comm, .from = rank, .to = action->partner, .tag = action->tag};
    uint32_t message = pop_unmatched_partner(sim, &like, true);
    const bool is_matched = message != AS_NO_MESSAGE;
    if (!is_matched)
        AS_TRY(add_in_flight(sim, &message));
    struct as_in_flight *m = &sim->message.at[message];
    r->now_ns += latency_ns;
    sim->out->rank.at[rank].latency_ns += latency_ns;
    sim->out->messages_n++;
    m->comm = action->comm;
    m->from = rank;
    m->to = action->partner;
    m->tag = action->tag;
    m->size_b = action->sent_b;
    m->sent_ns = r->now_ns;
    m->sequence = r->sequence++;
    m->network = network;
    m->link = link;
    /* A send to oneself in standard mode was recorded to return: it does not block. */
    m->is_rendezvous = action->is_synchronous ||
                       (rank != action->partner && (uint64_t)action->sent_b > sim->model->eager_b);
    const bool is_rendezvous = m->is_rendezvous;
    m->references = (uint8_t)(m->references + (is_matched ? 1 : 2));
    if (!is_matched)
        AS_TRY(add_unmatched(sim, message));
    if (!is_rendezvous)
        AS_TRY(as_sim_transfer(sim, message, m->sent_ns));
    else if (is_matched)
        AS_TRY(as_sim_transfer(sim, message, later_ns(m->sent_ns, m->post_ns)));
    return end_send(sim, rank, action, message, is_rendezvous);
}

int as_sim_receive(struct as_replay *sim, uint32_t rank, const struct as_action *action)
{
    const int64_t now_ns = sim->rank[rank].now_ns;
    const struct as_in_flight like = {
        .comm = action->comm, .from = action->partner, .to = rank, .tag = action->tag};
    uint32_t message = pop_unmatched_partner(sim, &like, false);
    const bool is_matched = message != AS_NO_MESSAGE;
    if (!is_matched)
        AS_TRY(add_in_flight(sim, &message));
    struct as_in_flight *m = &sim->message.at[message];
    m->post_ns = now_ns;
    if (is_matched && m->is_rendezvous) {
        AS_TRY(as_sim_transfer(sim, message, later_ns(m->sent_ns, now_ns)));
    } else if (!is_matched) {
        m->comm = like.comm;
        m->from = like.from;
        m->to = rank;
        m->tag = like.tag;
        m->references = 1;
        AS_TRY(add_unmatched(sim, message));
    }
    if (action->request != AS_REQUEST_BLOCKING)
        return add_request_row(sim, rank, AS_REQUEST_RECEIVE, action, message);
    as_sim_wait_message(sim, rank, message, false);
    return 0;
}

/* ---- Requests that are given up -------------------------------------------------------------- */

static void cancel_receive(struct as_replay *sim, uint32_t message)
{
    const struct as_in_flight *m = &sim->message.at[message];
    struct as_chain *chain = chain_of(sim, m);
    for (uint32_t before = AS_NO_MESSAGE, at = chain->first;
         m->sent_ns == AS_UNKNOWN_NS && at != AS_NO_MESSAGE;
         before = at, at = sim->message.at[at].next)
        if (at == message) {
            unlink_unmatched(sim, chain, before, at);
            break;
        }
    as_sim_drop(sim, message);
}

int as_sim_forget(struct as_replay *sim, uint32_t rank, const struct as_action *action)
{
    struct as_request_row *row =
        as_numbered_find(&sim->requests, sizeof *row, rank, action->request);
    if (!row)
        return 0;
    if (row->id.kind == AS_REQUEST_RECEIVE)
        cancel_receive(sim, row->item);
    else if (row->id.kind == AS_REQUEST_SEND)
        as_sim_drop(sim, row->item);
    as_numbered_drop(&sim->requests, sizeof *row, row);
    return 0;
}
