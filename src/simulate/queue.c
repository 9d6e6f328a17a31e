/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers: a bus, an out-link and an in-link at once, or the queue for them. */
#include <assert.h>

#include "base/error.h"
#include "simulate/engine.h"

/* ---- Resources ------------------------------------------------------------------------------- */

static bool is_left(uint32_t used_n, uint32_t limit_n)
{
    return limit_n == 0 || used_n < limit_n;
}

/* The node at which the buses and the queue of the message's network stand. */
static uint32_t network_place(const struct as_replay *sim, const struct as_in_flight *m)
{
    const struct as_rank_state *from = &sim->rank[m->from];
    return m->network == AS_NETWORK_INSIDE    ? from->node
           : m->network == AS_NETWORK_BETWEEN ? from->machine
                                              : 0;
}

static struct as_network_state *network_of(struct as_replay *sim, const struct as_in_flight *m)
{
    return &sim->node[network_place(sim, m)].network[m->network];
}

/* The links of a machine stand at its first node. */
static struct as_node_state *links_of(const struct as_replay *sim, const struct as_in_flight *m,
                                      uint32_t rank)
{
    const struct as_rank_state *r = &sim->rank[rank];
    return &sim->node[m->network == AS_NETWORK_WIDE ? r->machine : r->node];
}

static struct as_links_state *out_links_of(const struct as_replay *sim,
                                           const struct as_in_flight *m)
{
    return &links_of(sim, m, m->from)->out[m->network];
}

static struct as_links_state *in_links_of(const struct as_replay *sim, const struct as_in_flight *m)
{
    return &links_of(sim, m, m->to)->in[m->network];
}

static void hold_resources(struct as_replay *sim, const struct as_in_flight *m)
{
    network_of(sim, m)->bus_n++;
    out_links_of(sim, m)->used_n++;
    in_links_of(sim, m)->used_n++;
}

static int queue_message(struct as_replay *sim, struct as_due_heap *queue, uint32_t message)
{
    const struct as_in_flight *m = &sim->message.at[message];
    return as_due_push(queue, m->ready_ns, (uint64_t)m->from << 32 | m->sequence, message);
}

/* The first message that found all of these links in use may begin if one is free now. It is before
 * the others in the queue of the network, so that they follow one by one. */
static int wake_first(struct as_replay *sim, struct as_links_state *links, uint32_t limit_n)
{
    if (links->queue.due.n == 0 || !is_left(links->used_n, limit_n))
        return 0;
    const uint32_t message = as_due_pop(&links->queue);
    return queue_message(sim, &network_of(sim, &sim->message.at[message])->queue, message);
}

static int wake_both(struct as_replay *sim, const struct as_in_flight *m)
{
    const struct as_network *network = &sim->model->network[m->network];
    AS_TRY(wake_first(sim, out_links_of(sim, m), network->out_links));
    return wake_first(sim, in_links_of(sim, m), network->in_links);
}

/* The queue that its resources are for is to be scanned. */
static int mark_changed(struct as_replay *sim, const struct as_in_flight *m)
{
    struct as_network_state *network = network_of(sim, m);
    if (network->is_changed)
        return 0;
    network->is_changed = true;
    return as_vec_push(&sim->changed,
                       (struct as_changed_network){network_place(sim, m), m->network});
}

int as_sim_release(struct as_replay *sim, int64_t ns)
{
    while (as_due_first_ns(&sim->ends) <= ns) {
        const uint32_t message = as_due_pop(&sim->ends);
        const struct as_in_flight *m = &sim->message.at[message];
        network_of(sim, m)->bus_n--;
        out_links_of(sim, m)->used_n--;
        in_links_of(sim, m)->used_n--;
        if (mark_changed(sim, m) < 0 || wake_both(sim, m) < 0)
            return as_error_nomem(sim->err, "the queues of messages");
        as_sim_drop(sim, message);
    }
    return 0;
}

/* ---- Beginning ------------------------------------------------------------------------------- */

/* It begins then. A transfer without length needs resources, but holds none. */
static int begin_transfer(struct as_replay *sim, uint32_t message, int64_t ns)
{
    struct as_in_flight *m = &sim->message.at[message];
    const struct as_network *network =
        m->link ? &m->link->network : &sim->model->network[m->network];
    const int64_t free_ns = ns + as_network_transfer_ns(network, m->size_b);
    m->begin_ns = ns;
    m->end_ns = free_ns + network->flight_ns;
    if (m->end_ns > AS_SIMULATED_NS_MAX)
        return as_error_set(sim->err, AS_ERR_CORRUPT,
                            "simulation: times exceed 36 years; check sizes and bandwidth");
    if (!m->link && sim->is_limited[m->network] && free_ns > ns) {
        hold_resources(sim, m);
        m->references++;
        if (as_due_push(&sim->ends, free_ns, message, message) < 0)
            return as_error_nomem(sim->err, "the transfers");
    }
    return as_sim_transferred(sim, message);
}

int as_sim_transfer(struct as_replay *sim, uint32_t message, int64_t ready_ns)
{
    assert(message < sim->message.n);
    struct as_in_flight *m = &sim->message.at[message];
    m->ready_ns = ready_ns;
    if (m->link || !sim->is_limited[m->network])
        return begin_transfer(sim, message, ready_ns);
    m->references++; /* by the queue */
    if (as_due_push(&sim->ready, ready_ns, (uint64_t)m->from << 32 | m->sequence, message) < 0)
        return as_error_nomem(sim->err, "the queues of messages");
    return 0;
}

/* ---- Queues ---------------------------------------------------------------------------------- */

/* Begins the message if its links are free, else moves it to the queue of those in use. A message
 * is queued for the resource that is missing first. */
static int try_message(struct as_replay *sim, uint32_t message, int64_t ns)
{
    struct as_in_flight *m = &sim->message.at[message];
    const struct as_network *network = &sim->model->network[m->network];
    struct as_links_state *out = out_links_of(sim, m), *in = in_links_of(sim, m);
    const bool has_out = is_left(out->used_n, network->out_links);
    const bool has_both = has_out && is_left(in->used_n, network->in_links);
    if (m->queued_for == AS_QUEUED_FOR_NOTHING && (ns > m->ready_ns || !has_both))
        m->queued_for = ns > m->ready_ns ? AS_QUEUED_FOR_BUS : AS_QUEUED_FOR_LINK;
    if (!has_both) {
        if (queue_message(sim, has_out ? &in->queue : &out->queue, message) < 0 ||
            wake_both(sim, m) < 0)
            return as_error_nomem(sim->err, "the queues of messages");
        return 0;
    }
    AS_TRY(begin_transfer(sim, message, ns));
    if (wake_both(sim, &sim->message.at[message]) < 0)
        return as_error_nomem(sim->err, "the queues of messages");
    as_sim_drop(sim, message);
    return 0;
}

static int queue_ready_messages(struct as_replay *sim, int64_t ns)
{
    while (as_due_first_ns(&sim->ready) <= ns) {
        const uint32_t message = as_due_pop(&sim->ready);
        const struct as_in_flight *m = &sim->message.at[message];
        if (mark_changed(sim, m) < 0 || queue_message(sim, &network_of(sim, m)->queue, message) < 0)
            return as_error_nomem(sim->err, "the queues of messages");
    }
    return 0;
}

/* In order, until no bus is left; a later message may overtake one that lacks a link. */
static int scan_queue(struct as_replay *sim, struct as_network_state *network, uint32_t buses,
                      int64_t ns)
{
    while (network->queue.due.n && is_left(network->bus_n, buses))
        AS_TRY(try_message(sim, as_due_pop(&network->queue), ns));
    return 0;
}

int as_sim_begin_ready(struct as_replay *sim, int64_t ns)
{
    AS_TRY(queue_ready_messages(sim, ns));
    for (size_t i = 0; i < sim->changed.n; i++) {
        const struct as_changed_network at = sim->changed.at[i];
        struct as_network_state *network = &sim->node[at.node].network[at.network];
        network->is_changed = false;
        AS_TRY(scan_queue(sim, network, sim->model->network[at.network].buses, ns));
    }
    sim->changed.n = 0;
    return 0;
}
