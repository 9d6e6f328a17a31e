/* SPDX-License-Identifier: Apache-2.0 */
#include "plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct plain {
    const struct made_program *p;
    struct plain_waits all; /* as the definitions give them: they may overlap */
};

static const struct made_call *begin_of(const struct plain *x, const struct made_side *side)
{
    return &x->p->call.at[side->begin];
}

static const struct made_call *end_of(const struct plain *x, const struct made_side *side)
{
    return &x->p->call.at[side->end];
}

static void add(struct plain *x, const struct made_side *who, enum as_wait_kind kind,
                const struct made_side *cause, int64_t begin_ns, int64_t end_ns)
{
    const struct plain_wait wait = {.rank = who->rank,
                                    .call = who->end,
                                    .kind = kind,
                                    .cause = cause ? cause->rank : AS_WAIT_UNKNOWN,
                                    .cause_routine =
                                        cause ? begin_of(x, cause)->routine : MADE_ROUTINES_N,
                                    .begin_ns = begin_ns,
                                    .end_ns = end_ns};
    if (end_ns > begin_ns)
        assert_int_equal(as_vec_push(&x->all.wait, wait), 0);
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* The receive of a message: of the same communicator, ranks and tag as many were begun before. */
static const struct made_side *receive_of(const struct plain *x, const struct made_side *send)
{
    size_t before_n = 0;
    as_vec_foreach (&x->p->side, other)
        before_n += other < send && other->kind == MADE_SENT && other->rank == send->rank &&
                    other->peer == send->peer && other->tag == send->tag &&
                    other->comm == send->comm;
    as_vec_foreach (&x->p->side, other)
        if (other->kind == MADE_RECEIVED && other->rank == send->peer &&
            other->peer == send->rank && other->tag == send->tag && other->comm == send->comm &&
            before_n-- == 0)
            return other;
    fail_msg("a send without a receive");
    return NULL;
}

/* Sends of so many bytes return before their receive is posted: 1 KiB, or what one did. */
static int64_t eager_size(const struct plain *x)
{
    int64_t eager_b = 1024;
    as_vec_foreach (&x->p->side, send)
        if (send->kind == MADE_SENT && send->mode == MADE_STANDARD &&
            end_of(x, send)->leave_ns <= begin_of(x, receive_of(x, send))->enter_ns)
            eager_b = max_of(eager_b, send->size_b);
    return eager_b;
}

static void add_message(struct plain *x, const struct made_side *send, int64_t eager_b)
{
    const struct made_side *receive = receive_of(x, send);
    const int64_t sent_ns = begin_of(x, send)->enter_ns, asked_ns = begin_of(x, receive)->enter_ns;
    const struct made_call *completes_send = end_of(x, send), *completes = end_of(x, receive);
    const bool may_wait =
        send->mode == MADE_SYNCHRONOUS || (send->mode == MADE_STANDARD && send->size_b > eager_b);
    if (sent_ns > completes->enter_ns)
        add(x, receive, AS_WAIT_LATE_SENDER, send, completes->enter_ns,
            min_of(sent_ns, completes->leave_ns));
    else if (may_wait && asked_ns < completes_send->leave_ns)
        add(x, send, AS_WAIT_LATE_RECEIVER, receive, completes_send->enter_ns, asked_ns);
}

/* ---- Collectives ----------------------------------------------------------------------------- */

/* Sides of one collective, by rank in the communicator. */
struct plain_members {
    const struct made_side *side[MADE_RANKS_MOST];
    uint32_t n;
};

static struct plain_members members_of(const struct plain *x, const struct made_side *one)
{
    struct plain_members members = {.n = 0};
    as_vec_foreach (&x->p->side, other)
        if (other->kind == MADE_GATHERED && other->comm == one->comm &&
            other->number == one->number)
            members.side[members.n++] = other;
    return members;
}

/* The last that began of those before `to`; of one moment the first. */
static const struct made_side *last_of(const struct plain *x, const struct plain_members *members,
                                       uint32_t to)
{
    const struct made_side *last = members->side[0];
    for (uint32_t i = 1; i < to; i++)
        if (begin_of(x, members->side[i])->enter_ns > begin_of(x, last)->enter_ns)
            last = members->side[i];
    return last;
}

static void add_wait_for(struct plain *x, const struct made_side *who,
                         const struct made_side *cause, enum as_wait_kind kind)
{
    if (who != cause)
        add(x, who, kind, cause, end_of(x, who)->enter_ns,
            min_of(begin_of(x, cause)->enter_ns, end_of(x, who)->leave_ns));
}

static void add_all_to_all(struct plain *x, const struct plain_members *m, enum as_wait_kind kind,
                           enum as_wait_kind completion)
{
    const struct made_side *last = last_of(x, m, m->n);
    int64_t first_left_ns = INT64_MAX;
    for (uint32_t i = 0; i < m->n; i++)
        first_left_ns = min_of(first_left_ns, end_of(x, m->side[i])->leave_ns);
    const int64_t done_ns = max_of(first_left_ns, begin_of(x, last)->enter_ns);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct made_call *end = end_of(x, m->side[i]);
        add_wait_for(x, m->side[i], last, kind);
        add(x, m->side[i], completion, NULL, max_of(done_ns, end->enter_ns), end->leave_ns);
    }
}

/* The root waits for the last contribution: of those that have a byte, if any has. */
static void add_to_root(struct plain *x, const struct plain_members *m)
{
    const struct made_side *root = m->side[m->side[0]->root];
    struct plain_members others = {.n = 0};
    for (int with_bytes = 1; with_bytes >= 0 && others.n == 0; with_bytes--)
        for (uint32_t i = 0; i < m->n; i++)
            if (m->side[i] != root && (m->side[i]->sent_b > 0) >= with_bytes)
                others.side[others.n++] = m->side[i];
    add_wait_for(x, root, last_of(x, &others, others.n), AS_WAIT_EARLY_REDUCE);
}

static void add_collective(struct plain *x, const struct plain_members *m)
{
    switch (m->side[0]->what) {
    case MADE_BARRIER:
        add_all_to_all(x, m, AS_WAIT_BARRIER, AS_WAIT_BARRIER_COMPLETION);
        break;
    case MADE_BCAST:
    case MADE_SCATTERV:
        for (uint32_t i = 0; i < m->n; i++)
            add_wait_for(x, m->side[i], m->side[m->side[0]->root], AS_WAIT_LATE_BROADCAST);
        break;
    case MADE_REDUCE:
    case MADE_GATHERV:
        add_to_root(x, m);
        break;
    case MADE_SCAN:
    case MADE_EXSCAN:
        for (uint32_t i = 1; i < m->n; i++)
            add_wait_for(x, m->side[i], last_of(x, m, i), AS_WAIT_EARLY_SCAN);
        break;
    default:
        add_all_to_all(x, m, AS_WAIT_ALL, AS_WAIT_ALL_COMPLETION);
        break;
    }
}

/* ---- Each moment once ------------------------------------------------------------------------ */

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool is_even_with(const struct plain_wait *a, const struct plain_wait *b)
{
    return a->end_ns == b->end_ns && a->kind == b->kind && a->cause == b->cause &&
           a->cause_routine != b->cause_routine;
}

/* Returns whether the first has a moment that both cover. The wait that ends last has it; of those
 * the first kind, the first cause, the one that began first. */
static bool owns(const struct plain_wait *a, const struct plain_wait *b)
{
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (a->cause != b->cause)
        return a->cause < b->cause;
    return a->begin_ns < b->begin_ns;
}

static const struct plain_wait *owner_of(const struct plain *x, uint32_t rank, int64_t ns)
{
    const struct plain_wait *owner = NULL;
    as_vec_foreach (&x->all.wait, wait)
        if (wait->rank == rank && wait->begin_ns <= ns && ns < wait->end_ns &&
            (!owner || owns(wait, owner)))
            owner = wait;
    return owner;
}

static void keep_moments(const struct plain *x, uint32_t rank, struct plain_waits *out)
{
    AS_VEC(int64_t) time = {.n = 0};
    const struct plain_wait *before = NULL;
    as_vec_foreach (&x->all.wait, wait)
        if (wait->rank == rank) {
            assert_int_equal(as_vec_push(&time, wait->begin_ns), 0);
            assert_int_equal(as_vec_push(&time, wait->end_ns), 0);
        }
    if (time.n)
        qsort(time.at, time.n, sizeof *time.at, compare_times);
    for (size_t i = 0; i + 1 < time.n; i++) {
        const struct plain_wait *owner = owner_of(x, rank, time.at[i]);
        if (time.at[i + 1] == time.at[i])
            continue;
        if (owner && owner == before) {
            out->wait.at[out->wait.n - 1].end_ns = time.at[i + 1];
        } else if (owner) {
            struct plain_wait piece = *owner;
            piece.begin_ns = time.at[i];
            piece.end_ns = time.at[i + 1];
            as_vec_foreach (&x->all.wait, wait)
                piece.is_even |= wait->rank == rank && is_even_with(wait, owner);
            assert_int_equal(as_vec_push(&out->wait, piece), 0);
        }
        before = owner;
    }
    as_vec_fini(&time);
}

void plain_waits_of(const struct made_program *program, struct plain_waits *out)
{
    struct plain x = {.p = program};
    const int64_t eager_b = eager_size(&x);
    *out = (struct plain_waits){.wait = {.n = 0}};
    as_vec_foreach (&program->side, side) {
        if (side->kind == MADE_SENT)
            add_message(&x, side, eager_b);
        if (side->kind != MADE_GATHERED)
            continue;
        const struct plain_members members = members_of(&x, side);
        if (side == members.side[0])
            add_collective(&x, &members);
    }
    for (uint32_t rank = 0; rank < program->rank_n; rank++)
        keep_moments(&x, rank, out);
    as_vec_fini(&x.all.wait);
}

bool plain_moves_data(const struct made_program *program, uint32_t call)
{
    as_vec_foreach (&program->side, side) {
        const bool begins = side->begin == call, ends = side->end == call;
        if ((side->kind == MADE_SENT && (begins || ends)) ||
            (side->kind == MADE_RECEIVED && ends) ||
            (side->kind == MADE_GATHERED && (begins || ends) &&
             side->sent_b + side->received_b > 0))
            return true;
    }
    return false;
}
