/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers: a bus, an out-link and an in-link at once, or the queue for them. */
#include <assert.h>
#include <string.h>

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

static void hold_resources(struct as_replay *sim, const struct as_in_flight *m)
{
    network_of(sim, m)->bus_n++;
    links_of(sim, m, m->from)->out_n[m->network]++;
    links_of(sim, m, m->to)->in_n[m->network]++;
}

static bool has_links(const struct as_replay *sim, const struct as_in_flight *m)
{
    const struct as_network *network = &sim->model->network[m->network];
    const struct as_node_state *from = links_of(sim, m, m->from), *to = links_of(sim, m, m->to);
    return is_left(from->out_n[m->network], network->out_links) &&
           is_left(to->in_n[m->network], network->in_links);
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
        links_of(sim, m, m->from)->out_n[m->network]--;
        links_of(sim, m, m->to)->in_n[m->network]--;
        if (mark_changed(sim, m) < 0)
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
    const struct as_network *network = &sim->model->network[m->network];
    const int64_t free_ns = ns + as_network_transfer_ns(network, m->size_b);
    m->begin_ns = ns;
    m->end_ns = free_ns + network->flight_ns;
    if (m->end_ns > AS_SIMULATED_NS_MAX)
        return as_error_set(sim->err, ASSAY_ERR_CORRUPT,
                            "simulation: times exceed 36 years; check sizes and bandwidth");
    if (sim->is_limited[m->network] && free_ns > ns) {
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
    if (!sim->is_limited[m->network])
        return begin_transfer(sim, message, ready_ns);
    m->references++; /* by the queue */
    if (as_due_push(&sim->ready, ready_ns, (uint64_t)m->from << 32 | m->sequence, message) < 0)
        return as_error_nomem(sim->err, "the queues of messages");
    return 0;
}

/* ---- Queues ---------------------------------------------------------------------------------- */

static bool is_queued_before(const struct as_in_flight *a, const struct as_in_flight *b)
{
    if (a->ready_ns != b->ready_ns)
        return a->ready_ns < b->ready_ns;
    return a->from != b->from ? a->from < b->from : a->sequence < b->sequence;
}

/* Sorted by when they were ready, then sender, then the sender's order. */
static int insert_queued(struct as_replay *sim, struct as_message_queue *queue, uint32_t message)
{
    AS_TRY(as_vec_push(&queue->message, message));
    size_t at = queue->message.n - 1;
    for (; at > 0 &&
           is_queued_before(&sim->message.at[message], &sim->message.at[queue->message.at[at - 1]]);
         at--)
        queue->message.at[at] = queue->message.at[at - 1];
    queue->message.at[at] = message;
    return 0;
}

/* Begins those for which everything is free, in order; a later one may overtake. A message is
 * queued for the resource that is missing first. The scan ends at once if no bus is left. */
static int scan_queue(struct as_replay *sim, struct as_message_queue *queue, const uint32_t *bus_n,
                      uint32_t buses, int64_t ns)
{
    size_t kept = 0, at = 0;
    int rc = 0;
    for (; rc == 0 && at < queue->message.n && is_left(*bus_n, buses); at++) {
        const uint32_t message = queue->message.at[at];
        struct as_in_flight *m = &sim->message.at[message];
        if (!has_links(sim, m)) {
            if (m->queued_for == AS_QUEUED_FOR_NOTHING)
                m->queued_for = ns > m->ready_ns ? AS_QUEUED_FOR_BUS : AS_QUEUED_FOR_LINK;
            queue->message.at[kept++] = message;
            continue;
        }
        if (m->queued_for == AS_QUEUED_FOR_NOTHING && ns > m->ready_ns)
            m->queued_for = AS_QUEUED_FOR_BUS;
        rc = begin_transfer(sim, message, ns);
        as_sim_drop(sim, message);
    }
    memmove(queue->message.at + kept, queue->message.at + at,
            (queue->message.n - at) * sizeof *queue->message.at);
    queue->message.n = kept + queue->message.n - at;
    return rc;
}

static int queue_ready_messages(struct as_replay *sim, int64_t ns)
{
    while (as_due_first_ns(&sim->ready) <= ns) {
        const uint32_t message = as_due_pop(&sim->ready);
        const struct as_in_flight *m = &sim->message.at[message];
        struct as_message_queue *queue = &network_of(sim, m)->queue;
        if (mark_changed(sim, m) < 0 || insert_queued(sim, queue, message) < 0)
            return as_error_nomem(sim->err, "the queues of messages");
    }
    return 0;
}

int as_sim_begin_ready(struct as_replay *sim, int64_t ns)
{
    AS_TRY(queue_ready_messages(sim, ns));
    for (size_t i = 0; i < sim->changed.n; i++) {
        const struct as_changed_network at = sim->changed.at[i];
        struct as_network_state *network = &sim->node[at.node].network[at.network];
        network->is_changed = false;
        AS_TRY(scan_queue(sim, &network->queue, &network->bus_n,
                          sim->model->network[at.network].buses, ns));
    }
    sim->changed.n = 0;
    return 0;
}
