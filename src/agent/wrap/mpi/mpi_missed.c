/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is not recorded while a trace is switched off, in numbers: how many messages went to and
 * came from whom with which tag, how many operations of many there were on which communicator. Who
 * matches messages by their order needs that to find the partners of those that come after. And
 * what calls sent and received that are told as sums.
 */
#include "agent/wrap/mpi/mpi_wrap.h"

#define SORTS_N 4096u /* of messages; what has no room is counted without its sort */

enum { SORT_FREE, SORT_CLAIMED, SORT_READY };
struct missed_sort {
    _Atomic uint32_t state;
    uint32_t what; /* as_trace_missed */
    uint64_t partner, tag, comm;
    _Atomic uint64_t n;
};

_Atomic uint32_t as_mpi_missed;
static struct missed_sort sorts[SORTS_N]; /* open addressing; none goes */
static _Atomic uint64_t without_room;

static uint32_t first_place(uint32_t what, uint64_t partner, uint64_t tag, uint64_t comm)
{
    uint64_t hash = what + 4 * (partner + (tag << 20) + (comm << 42));
    hash *= 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 40);
}

static struct missed_sort *find_sort(uint32_t what, uint64_t partner, uint64_t tag, uint64_t comm)
{
    const uint32_t first = first_place(what, partner, tag, comm);
    for (uint32_t i = 0; i < SORTS_N; i++) {
        struct missed_sort *sort = &sorts[(first + i) % SORTS_N];
        uint32_t state = SORT_FREE;
        if (atomic_compare_exchange_strong(&sort->state, &state, SORT_CLAIMED)) {
            sort->what = what;
            sort->partner = partner;
            sort->tag = tag;
            sort->comm = comm;
            atomic_store_explicit(&sort->state, SORT_READY, memory_order_release);
            return sort;
        }
        while (state == SORT_CLAIMED) /* a few instructions of another thread */
            state = atomic_load_explicit(&sort->state, memory_order_acquire);
        if (sort->what == what && sort->partner == partner && sort->tag == tag &&
            sort->comm == comm)
            return sort;
    }
    return NULL;
}

static void count_missed(uint32_t what, uint64_t partner, uint64_t tag, uint64_t comm)
{
    struct missed_sort *sort = find_sort(what, partner, tag, comm);
    atomic_fetch_add_explicit(sort ? &sort->n : &without_room, 1, memory_order_relaxed);
    atomic_store_explicit(&as_mpi_missed, 1, memory_order_release);
}

/* Partners below 0, as zigzag: nobody. */
static bool is_rank(uint64_t partner)
{
    return !(partner & 1);
}

/* A send counts as it begins, for its request will be known by none; a receive as it is done. */
static void miss_record(unsigned kind, const uint64_t *field)
{
    const uint64_t none = as_trace_zigzag(0);
    switch (kind) {
    case AS_TRACE_SEND:
        if (is_rank(field[0]) && !(field[5] & AS_TRACE_PERSISTENT))
            count_missed(AS_TRACE_MISSED_SENDS, field[0], field[1], field[3]);
        break;
    case AS_TRACE_RECEIVE:
        if (is_rank(field[0]))
            count_missed(AS_TRACE_MISSED_RECEIVES, field[0], field[1], field[3]);
        break;
    case AS_TRACE_COLLECTIVE:
        if (!(field[5] & AS_TRACE_PERSISTENT))
            count_missed(AS_TRACE_MISSED_COLLECTIVES, none, none, field[0]);
        break;
    case AS_TRACE_START:
        count_missed(AS_TRACE_MISSED_STARTS, none, none, field[0]);
        break;
    default:
        break;
    }
}

/* As who reads records of each call adds them up. */
static void sum_record(struct as_tracer_thread *thread, unsigned kind, const uint64_t *field)
{
    if (kind == AS_TRACE_SEND && field[0] != as_trace_zigzag(AS_TRACE_NO_RANK)) {
        thread->sent_b += field[2];
    } else if (kind == AS_TRACE_RECEIVE) {
        thread->received_b += field[2];
    } else if (kind == AS_TRACE_COLLECTIVE) {
        thread->sent_b += field[3];
        thread->received_b += field[4];
    }
}

void as_mpi_count(struct as_tracer_thread *thread, unsigned kind, const uint64_t *field)
{
    if (thread->quiet == AS_TRACER_MUTED)
        miss_record(kind, field);
    else
        sum_record(thread, kind, field);
}

static void emit_missed(struct as_trace_writer *w, uint32_t what, uint64_t partner, uint64_t tag,
                        uint64_t comm, uint64_t n)
{
    const uint64_t field[] = {what, partner, tag, comm, n};
    as_trace_emit(w, AS_TRACE_MISSED, 0, field, 5);
}

/* Counts that come meanwhile are told by the next. */
void as_mpi_emit_missed(struct as_tracer_thread *thread)
{
    struct as_trace_writer *w = &thread->writer;
    if (!atomic_exchange(&as_mpi_missed, 0))
        return;
    const uint64_t any_n = atomic_exchange(&without_room, 0);
    if (any_n)
        emit_missed(w, AS_TRACE_MISSED_ANY, 0, 0, 0, any_n);
    for (uint32_t i = 0; i < SORTS_N; i++) {
        struct missed_sort *sort = &sorts[i];
        if (atomic_load_explicit(&sort->state, memory_order_acquire) != SORT_READY)
            continue;
        const uint64_t n = atomic_exchange(&sort->n, 0);
        if (n)
            emit_missed(w, sort->what, sort->partner, sort->tag, sort->comm, n);
    }
}
