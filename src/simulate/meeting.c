/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: the last member that enters fixes the end for all. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "simulate/engine.h"

#define NO_MEETING UINT32_MAX

/* ---- Meeting points -------------------------------------------------------------------------- */

static int add_meeting(struct as_replay *sim, uint8_t collective, uint32_t *out)
{
    const struct as_pending_collective fresh = {.sizes = {.min_b = INT64_MAX},
                                                .end_ns = AS_UNKNOWN_NS,
                                                .first_waiting = UINT32_MAX,
                                                .collective = collective};
    *out = sim->free_meeting;
    if (*out != NO_MEETING) {
        sim->free_meeting = sim->meeting.at[*out].next_free;
        sim->meeting.at[*out] = fresh;
        return 0;
    }
    *out = (uint32_t)sim->meeting.n;
    return as_vec_push(&sim->meeting, fresh) < 0 ? as_error_nomem(sim->err, "the collectives") : 0;
}

static void leave_meeting(struct as_replay *sim, uint32_t comm, uint32_t meeting)
{
    assert(meeting < sim->meeting.n);
    struct as_pending_collective *at = &sim->meeting.at[meeting];
    if (++at->left_n < sim->comm[comm].member_n)
        return;
    at->next_free = sim->free_meeting;
    sim->free_meeting = meeting;
}

/* Usually the members stand in order. */
static bool is_member(const struct as_program_comm *comm, uint32_t rank)
{
    if (rank < comm->rank.n && comm->rank.at[rank] == rank)
        return true;
    as_vec_foreach (&comm->rank, member)
        if (*member == rank)
            return true;
    return false;
}

/* The first collective of a rank on a communicator. */
static int begin_count(struct as_replay *sim, uint32_t rank, uint32_t comm)
{
    const struct as_comm_count first = {.id = {rank, 1, comm}, .n = 1};
    if (!is_member(&sim->program->comm.at[comm], rank))
        return as_error_set(sim->err, AS_ERR_CORRUPT,
                            "rank %u: it is not a member of the communicator of its collective; "
                            "use a whole .dim file",
                            rank);
    return as_numbered_put(&sim->counts, sizeof first, &first) < 0
               ? as_error_nomem(sim->err, "the collectives")
               : 0;
}

/* The n-th collective of a communicator, by the count of this rank. */
static int find_meeting(struct as_replay *sim, uint32_t rank, uint32_t comm, uint8_t collective,
                        uint32_t *out)
{
    struct as_simulated_comm *c = &sim->comm[comm];
    struct as_comm_count *count = as_numbered_find(&sim->counts, sizeof *count, rank, comm);
    const uint64_t number = count ? count->n++ : 0;
    if (!count)
        AS_TRY(begin_count(sim, rank, comm));
    const uint64_t behind = number - c->first;
    if (behind < c->open.n - c->open_at) {
        *out = c->open.at[c->open_at + behind];
        return 0;
    }
    AS_TRY(add_meeting(sim, collective, out));
    return as_vec_push(&c->open, *out) < 0 ? as_error_nomem(sim->err, "the collectives") : 0;
}

/* All have entered the first that is open. */
static void close_first(struct as_simulated_comm *c)
{
    c->first++;
    c->open_at++;
    if (c->open_at < 64 || 2 * c->open_at < c->open.n)
        return;
    c->open.n -= c->open_at;
    memmove(c->open.at, c->open.at + c->open_at, c->open.n * sizeof *c->open.at);
    c->open_at = 0;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void count_meeting(struct as_replay *sim, uint32_t rank,
                          const struct as_pending_collective *at)
{
    struct as_rank_state *r = &sim->rank[rank];
    struct as_simulated_rank *sum = &sim->out->rank.at[rank];
    const int64_t waited_ns = at->end_ns - r->now_ns;
    if (waited_ns <= 0)
        return;
    const int64_t cost_ns = waited_ns < at->cost_ns ? waited_ns : at->cost_ns;
    sum->collective_ns += cost_ns;
    sum->blocked_ns += waited_ns - cost_ns;
    r->now_ns = at->end_ns;
}

void as_sim_wait_collective(struct as_replay *sim, uint32_t rank, uint32_t comm, uint32_t meeting)
{
    struct as_pending_collective *at = &sim->meeting.at[meeting];
    struct as_rank_state *r = &sim->rank[rank];
    if (at->end_ns != AS_UNKNOWN_NS) {
        count_meeting(sim, rank, at);
        leave_meeting(sim, comm, meeting);
        return;
    }
    r->waits_for = AS_WAITS_FOR_COLLECTIVE;
    r->item = meeting;
    r->comm = comm;
    r->next_waiting = at->first_waiting;
    at->first_waiting = rank;
}

/* The last has entered. */
static int end_meeting(struct as_replay *sim, uint32_t comm, uint32_t meeting)
{
    const struct as_simulated_comm *c = &sim->comm[comm];
    struct as_pending_collective *at = &sim->meeting.at[meeting];
    at->sizes.member_n = c->member_n;
    at->cost_ns = as_collective_cost_ns(sim->model, at->collective, &at->sizes, &c->spread);
    at->end_ns = at->last_ns + at->cost_ns;
    for (uint32_t rank = at->first_waiting, next; rank != UINT32_MAX; rank = next) {
        struct as_rank_state *r = &sim->rank[rank];
        next = r->next_waiting;
        r->waits_for = AS_WAITS_FOR_NOTHING;
        count_meeting(sim, rank, at);
        leave_meeting(sim, comm, meeting);
        if (as_due_push(&sim->timers, r->now_ns, rank, rank) < 0)
            return as_error_nomem(sim->err, "the ranks");
    }
    close_first(&sim->comm[comm]);
    return 0;
}

/* ---- Entering -------------------------------------------------------------------------------- */

static void enter_meeting(struct as_pending_collective *at, int64_t now_ns,
                          const struct as_action *action)
{
    struct as_collective_sizes *sizes = &at->sizes;
    at->entered_n++;
    at->last_ns = at->last_ns > now_ns ? at->last_ns : now_ns;
    sizes->min_b = sizes->min_b < action->sent_b ? sizes->min_b : action->sent_b;
    sizes->max_b = sizes->max_b > action->sent_b ? sizes->max_b : action->sent_b;
    sizes->sum_b += action->sent_b;
    if (action->received_b > sizes->received_max_b)
        sizes->received_max_b = action->received_b;
}

int as_sim_collective(struct as_replay *sim, uint32_t rank, const struct as_action *action)
{
    const uint32_t comm = action->comm;
    uint32_t meeting;
    if (sim->comm[comm].member_n < 2)
        return 0;
    AS_TRY(find_meeting(sim, rank, comm, action->collective, &meeting));
    struct as_pending_collective *at = &sim->meeting.at[meeting];
    if (at->collective != action->collective)
        return as_error_set(sim->err, AS_ERR_CORRUPT,
                            "rank %u: it calls %s where other ranks call %s; record the program "
                            "from its beginning",
                            rank, as_collective_word(action->collective),
                            as_collective_word(at->collective));
    enter_meeting(at, sim->rank[rank].now_ns, action);
    if (at->entered_n == sim->comm[comm].member_n)
        AS_TRY(end_meeting(sim, comm, meeting));
    if (action->request == AS_REQUEST_BLOCKING) {
        as_sim_wait_collective(sim, rank, comm, meeting);
        return 0;
    }
    if (action->request == AS_REQUEST_DETACHED) {
        leave_meeting(sim, comm, meeting);
        return 0;
    }
    const struct as_request_row row = {
        .id = {rank, AS_REQUEST_COLLECTIVE, action->request}, .item = meeting, .comm = comm};
    return as_numbered_put(&sim->requests, sizeof row, &row) < 0
               ? as_error_nomem(sim->err, "the requests")
               : 0;
}

void as_sim_explain_wait(const struct as_replay *sim, uint32_t rank, char *text, size_t text_b)
{
    const struct as_rank_state *r = &sim->rank[rank];
    if (r->waits_for == AS_WAITS_FOR_COLLECTIVE) {
        const struct as_pending_collective *at = &sim->meeting.at[r->item];
        snprintf(text, text_b, "rank %u waits in %s, which %u of %u ranks entered", rank,
                 as_collective_word(at->collective), at->entered_n, sim->comm[r->comm].member_n);
        return;
    }
    const struct as_in_flight *m = &sim->message.at[r->item];
    if (m->from == rank && m->is_sender_waiting)
        snprintf(text, text_b, "rank %u waits for rank %u to receive %" PRId64 " bytes with tag %d",
                 rank, m->to, m->size_b, m->tag);
    else
        snprintf(text, text_b, "rank %u waits for a message from rank %u with tag %d", rank,
                 m->from, m->tag);
}
