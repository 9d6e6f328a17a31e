/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a message's two sides, and the members of an operation, meet: at once in one process, or by
 * a record for the part of the trace in which they do (part.h).
 */
#include "analytics/part.h"
#include "base/error.h"

/* ---- Messages -------------------------------------------------------------------------------- */

static void append_message_side(struct as_handed *record, const struct as_message_side *side)
{
    as_part_field(record, side->site);
    as_part_field(record, side->arrival_site);
    as_part_field(record, side->bits);
    as_part_field(record, side->begin_ns);
    as_part_field(record, side->enter_ns);
    as_part_field(record, side->leave_ns);
}

int as_match_send(struct as_trace_walk *walk, uint64_t comm, int64_t from, int64_t to, int64_t tag,
                  int64_t size_b, const struct as_message_side *side)
{
    if (!walk->part)
        return as_messages_send(walk->messages, comm, from, to, tag, size_b, side);
    struct as_handed record = as_part_record(walk->part, AS_PART_SEND);
    as_part_field(&record, (int64_t)comm);
    as_part_field(&record, from);
    as_part_field(&record, to);
    as_part_field(&record, tag);
    as_part_field(&record, size_b);
    append_message_side(&record, side);
    as_handed_write(walk->part->crossing, as_part_of_rank(walk->part, to), &record);
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
    struct as_handed record = as_part_record(part, AS_PART_SEND_BEGIN);
    as_part_field(&record, (int64_t)comm);
    as_part_field(&record, from);
    as_part_field(&record, to);
    as_part_field(&record, tag);
    as_part_field(&record, *send);
    as_handed_write(part->crossing, as_part_of_rank(part, to), &record);
    return 0;
}

int as_match_sent(struct as_trace_walk *walk, uint32_t send, int64_t to, int64_t size_b,
                  const struct as_message_side *side)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_messages_sent(walk->messages, send, size_b, side);
    struct as_handed record = as_part_record(part, AS_PART_SENT);
    as_part_field(&record, send);
    as_part_field(&record, size_b);
    append_message_side(&record, side);
    as_handed_write(part->crossing, as_part_of_rank(part, to), &record);
    return as_vec_push(&part->free_send, send);
}

int as_match_cancel_send(struct as_trace_walk *walk, uint32_t send, int64_t to)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_messages_unsend(walk->messages, send);
    struct as_handed record = as_part_record(part, AS_PART_UNSEND);
    as_part_field(&record, send);
    as_handed_write(part->crossing, as_part_of_rank(part, to), &record);
    return as_vec_push(&part->free_send, send);
}

/* Receives meet their messages in the part of their own process. */
int as_match_post(struct as_trace_walk *walk, uint64_t comm, int64_t to, int64_t source,
                  int64_t tag, uint32_t *post)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_messages_post(walk->messages, comm, to, source, tag, post);
    *post = part->free_slot.n ? part->free_slot.at[--part->free_slot.n] : part->slots_n++;
    struct as_handed record = as_part_record(part, AS_PART_POST);
    as_part_field(&record, (int64_t)comm);
    as_part_field(&record, to);
    as_part_field(&record, source);
    as_part_field(&record, tag);
    as_part_field(&record, *post);
    as_handed_write(part->crossing, part->number, &record);
    return 0;
}

int as_match_receive(struct as_trace_walk *walk, uint32_t post, int64_t source, int64_t tag,
                     int64_t size_b, const struct as_message_side *side)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_messages_receive(walk->messages, post, source, tag, size_b, side);
    struct as_handed record = as_part_record(part, AS_PART_RECEIVE);
    as_part_field(&record, post);
    as_part_field(&record, source);
    as_part_field(&record, tag);
    as_part_field(&record, size_b);
    append_message_side(&record, side);
    as_handed_write(part->crossing, part->number, &record);
    return as_vec_push(&part->free_slot, post);
}

int as_match_cancel_post(struct as_trace_walk *walk, uint32_t post)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_messages_cancel_post(walk->messages, post);
    struct as_handed record = as_part_record(part, AS_PART_GIVE_UP);
    as_part_field(&record, post);
    as_handed_write(part->crossing, part->number, &record);
    return as_vec_push(&part->free_slot, post);
}

/* ---- Operations of many ---------------------------------------------------------------------- */

/* So many operations of a communicator in a row meet in one part, the next in another. There they
 * are numbered among those that do. */
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
    struct as_handed record = as_part_record(part, AS_PART_BEGIN);
    as_part_field(&record, (int64_t)comm);
    as_part_field(&record, size);
    as_part_field(&record, rank);
    as_part_field(&record, kind);
    as_part_field(&record, root);
    as_handed_write(part->crossing, part_of_operation(part, comm, *number), &record);
    return 0;
}

int as_match_leave(struct as_trace_walk *walk, uint64_t comm, uint64_t number, uint32_t rank,
                   const struct as_collective_member *member)
{
    struct as_trace_part *part = walk->part;
    if (!part)
        return as_collectives_leave(walk->collectives, comm, number, rank, member);
    struct as_handed record = as_part_record(part, AS_PART_LEAVE);
    as_part_field(&record, (int64_t)comm);
    as_part_field(&record, (int64_t)number_in_part(part, number));
    as_part_field(&record, rank);
    as_part_field(&record, member->site);
    as_part_field(&record, member->arrival_site);
    as_part_field(&record, member->is_empty | member->moves_data << 1);
    as_part_field(&record, member->begin_ns);
    as_part_field(&record, member->enter_ns);
    as_part_field(&record, member->leave_ns);
    as_handed_write(part->crossing, part_of_operation(part, comm, number), &record);
    return 0;
}
