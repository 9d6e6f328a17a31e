/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatches sides of messages and members of collectives: matches them at once in this process, or
 * writes a record for the part that matches them (partition.h).
 */
#include "analytics/parallel/partition.h"
#include "base/error.h"

/* ---- Messages -------------------------------------------------------------------------------- */

static struct as_part_side side_fields(const struct as_message_side *side)
{
    return (struct as_part_side){.site = side->site,
                                 .arrival_site = side->arrival_site,
                                 .bits = side->bits,
                                 .begin_ns = side->begin_ns,
                                 .enter_ns = side->enter_ns,
                                 .leave_ns = side->leave_ns};
}

/* Writes a record for the part in which its sides are matched. */
#define WRITE_CROSSING(part, to, kind, ...)                                                        \
    do {                                                                                           \
        const struct as_part_##kind fields = {__VA_ARGS__};                                        \
        const struct as_shuffle_record record = as_part_pack_##kind(as_part_step(part), &fields);  \
        as_shuffle_write((part)->crossing, (to), &record);                                         \
    } while (0)

int as_match_send(struct as_trace_walk *walk, uint64_t comm, int64_t from, int64_t to, int64_t tag,
                  int64_t size_b, const struct as_message_side *side)
{
    if (!walk->part)
        return as_messages_send(walk->messages, comm, from, to, tag, size_b, side);
    WRITE_CROSSING(walk->part, as_part_of_rank(walk->part, to), send, .comm = (int64_t)comm,
                   .from = from, .to = to, .tag = tag, .size_b = size_b, .side = side_fields(side));
    return 0;
}

/* Slots of sends are those of the sending part. */
int as_match_begin_send(struct as_trace_walk *walk, uint64_t comm, int64_t from, int64_t to,
                        int64_t tag, uint32_t *send)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_messages_begin(walk->messages, comm, from, to, tag, send);
    *send = part->free_send.n ? part->free_send.at[--part->free_send.n] : part->sends_n++;
    WRITE_CROSSING(part, as_part_of_rank(part, to), begin_send, .comm = (int64_t)comm, .from = from,
                   .to = to, .tag = tag, .slot = *send);
    return 0;
}

int as_match_sent(struct as_trace_walk *walk, uint32_t send, int64_t to, int64_t size_b,
                  const struct as_message_side *side)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_messages_sent(walk->messages, send, size_b, side);
    WRITE_CROSSING(part, as_part_of_rank(part, to), sent, .slot = send, .size_b = size_b,
                   .side = side_fields(side));
    return as_vec_push(&part->free_send, send);
}

int as_match_cancel_send(struct as_trace_walk *walk, uint32_t send, int64_t to)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_messages_unsend(walk->messages, send);
    WRITE_CROSSING(part, as_part_of_rank(part, to), cancel_send, .slot = send);
    return as_vec_push(&part->free_send, send);
}

/* Receives match their messages in the part of their own process. */
int as_match_post(struct as_trace_walk *walk, uint64_t comm, int64_t to, int64_t source,
                  int64_t tag, uint32_t *post)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_messages_post(walk->messages, comm, to, source, tag, post);
    *post = part->free_slot.n ? part->free_slot.at[--part->free_slot.n] : part->slots_n++;
    WRITE_CROSSING(part, part->number, post, .comm = (int64_t)comm, .to = to, .source = source,
                   .tag = tag, .slot = *post);
    return 0;
}

int as_match_receive(struct as_trace_walk *walk, uint32_t post, int64_t source, int64_t tag,
                     int64_t size_b, const struct as_message_side *side)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_messages_receive(walk->messages, post, source, tag, size_b, side);
    WRITE_CROSSING(part, part->number, receive, .slot = post, .source = source, .tag = tag,
                   .size_b = size_b, .side = side_fields(side));
    return as_vec_push(&part->free_slot, post);
}

int as_match_cancel_post(struct as_trace_walk *walk, uint32_t post)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_messages_cancel_post(walk->messages, post);
    WRITE_CROSSING(part, part->number, cancel_post, .slot = post);
    return as_vec_push(&part->free_slot, post);
}

/* ---- Collectives ----------------------------------------------------------------------------- */

/* One part matches TURN collectives of a communicator in a row, the next part the next TURN. Each
 * part numbers its own without gaps. */
#define TURN 64u

static uint32_t part_of_operation(const struct as_trace_part *part, uint64_t comm, uint64_t number)
{
    return (uint32_t)((number / TURN + comm % part->part_n) % part->part_n);
}

static uint64_t number_in_part(const struct as_trace_part *part, uint64_t number)
{
    return number / TURN / part->part_n * TURN + number % TURN;
}

static int count_begun(struct as_trace_part *part, uint64_t comm, uint32_t rank, uint64_t *number)
{
    const uint64_t hash = as_hash_mix(as_hash_mix(17, comm), rank);
    uint32_t at;
    for (struct as_probe probe = as_index_probe(&part->begun_rows, hash);
         (at = as_index_next(&part->begun_rows, &probe)) != AS_INDEX_NONE;)
        if (part->begun.at[at].comm == comm && part->begun.at[at].rank == rank) {
            *number = part->begun.at[at].n++;
            return 0;
        }
    *number = 0;
    AS_TRY(as_vec_push(&part->begun, (struct as_part_begun){comm, rank, 1}));
    return as_index_add(&part->begun_rows, hash, (uint32_t)(part->begun.n - 1));
}

int as_match_begin(struct as_trace_walk *walk, uint64_t comm, uint32_t size, uint32_t rank,
                   enum as_collective_kind kind, int64_t root, uint64_t *number)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_collectives_begin(walk->collectives, comm, size, rank, kind, root, number);
    AS_TRY(count_begun(part, comm, rank, number));
    WRITE_CROSSING(part, part_of_operation(part, comm, *number), begin, .comm = (int64_t)comm,
                   .size = size, .rank = rank, .kind = kind, .root = root);
    return 0;
}

int as_match_leave(struct as_trace_walk *walk, uint64_t comm, uint64_t number, uint32_t rank,
                   const struct as_collective_member *member)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_collectives_leave(walk->collectives, comm, number, rank, member);
    WRITE_CROSSING(part, part_of_operation(part, comm, number), leave, .comm = (int64_t)comm,
                   .number = (int64_t)number_in_part(part, number), .rank = rank,
                   .site = member->site, .arrival_site = member->arrival_site,
                   .is_empty = member->is_empty, .moves_data = member->moves_data,
                   .begin_ns = member->begin_ns, .enter_ns = member->enter_ns,
                   .leave_ns = member->leave_ns);
    return 0;
}
