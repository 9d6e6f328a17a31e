/* SPDX-License-Identifier: Apache-2.0 */
#include "semantic/order.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"

/* The class of a kind; the empty record comes before all others. */
static const uint8_t record_classes[] = {
    [AS_RECORD_STATE_END] = 0,
    [AS_RECORD_PHYSICAL_RECEIVE] = 1,
    [AS_RECORD_LOGICAL_REMOTE_RECEIVE] = 2,
    [AS_RECORD_PHYSICAL_REMOTE_RECEIVE] = 2,
    [AS_RECORD_LOGICAL_REMOTE_SEND] = 3,
    [AS_RECORD_PHYSICAL_REMOTE_SEND] = 3,
    [AS_RECORD_LOGICAL_SEND] = 4,
    [AS_RECORD_PHYSICAL_SEND] = 5,
    [AS_RECORD_EVENT] = 6,
    [AS_RECORD_LOGICAL_RECEIVE] = 6,
    [AS_RECORD_STATE_BEGIN] = 8,
};

static int compare_places(const struct as_record_place *a, const struct as_record_place *b)
{
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    if (a->record_class != b->record_class)
        return a->record_class < b->record_class ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int compare_places_void(const void *a, const void *b)
{
    return compare_places(a, b);
}

static void sift_place_up(struct as_record_place *heap, size_t at)
{
    const struct as_record_place place = heap[at];
    while (at && compare_places(&place, &heap[(at - 1) / 2]) < 0) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = place;
}

static struct as_record_place pop_earliest_record(struct as_record_order *o)
{
    struct as_record_place *heap = o->ahead.at;
    assert(o->ahead.n > 0);
    const struct as_record_place first = heap[0], last = heap[--o->ahead.n];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < o->ahead.n) {
        child += child + 1 < o->ahead.n && compare_places(&heap[child + 1], &heap[child]) < 0;
        if (compare_places(&last, &heap[child]) <= 0)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

static int add_to_slot(struct as_record_order *o, const struct as_semantic_record *record,
                       unsigned record_class, unsigned index)
{
    struct as_record_place place = {.ns = record->ns,
                                    .order = record->number << 4 | index,
                                    .record_class = (uint8_t)record_class};
    if (o->free_slot.n) {
        place.slot = o->free_slot.at[--o->free_slot.n];
        o->slot.at[place.slot] = *record;
    } else {
        place.slot = (uint32_t)o->slot.n;
        AS_TRY(as_vec_push(&o->slot, *record));
        AS_TRY(as_vec_reserve(&o->free_slot, o->slot.n));
    }
    if (record->ns == o->now_ns)
        return as_vec_push(&o->now, place);
    AS_TRY(as_vec_push(&o->ahead, place));
    sift_place_up(o->ahead.at, o->ahead.n - 1);
    return 0;
}

/* Puts the single record among the others of its time. */
static int spill_single(struct as_record_order *o)
{
    if (!o->has_single)
        return 0;
    o->has_single = false;
    return add_to_slot(o, &o->single, o->single_class, o->single_index);
}

/* Most times have one record, which waits without a slot. */
static int add_record(struct as_record_order *o, const struct as_semantic_record *record,
                      unsigned record_class, unsigned index)
{
    assert(record->ns >= o->now_ns);
    if (record->ns == o->now_ns && !o->has_single && o->now.n == 0) {
        o->has_single = true;
        o->single = *record;
        o->single_class = (uint8_t)record_class;
        o->single_index = (uint8_t)index;
        return 0;
    }
    if (record->ns == o->now_ns)
        AS_TRY(spill_single(o));
    return add_to_slot(o, record, record_class, index);
}

/* A state without length ends behind its own begin. */
static int add_state(struct as_record_order *o, const struct as_semantic_line *line)
{
    struct as_semantic_record record = {.ns = line->ns,
                                        .number = line->number,
                                        .kind = AS_RECORD_STATE_BEGIN,
                                        .thread = line->thread,
                                        .cpu = line->cpu,
                                        .state = {line->state.value, line->state.end_ns}};
    AS_TRY(add_record(o, &record, record_classes[record.kind], 0));
    if (line->state.end_ns < 0)
        return 0;
    record.kind = AS_RECORD_STATE_END;
    record.ns = line->state.end_ns;
    return add_record(
        o, &record, record_classes[record.ns == line->ns ? AS_RECORD_STATE_BEGIN : record.kind], 1);
}

static int add_message(struct as_record_order *o, const struct as_semantic_line *line)
{
    const struct as_semantic_message *m = &line->message;
    const struct {
        enum as_record_kind kind;
        bool is_receiver;
        int64_t ns;
    } parts[] = {
        {AS_RECORD_LOGICAL_SEND, false, m->logical_send_ns},
        {AS_RECORD_PHYSICAL_SEND, false, m->physical_send_ns},
        {AS_RECORD_LOGICAL_REMOTE_RECEIVE, false, m->logical_receive_ns},
        {AS_RECORD_PHYSICAL_REMOTE_RECEIVE, false, m->physical_receive_ns},
        {AS_RECORD_LOGICAL_RECEIVE, true, m->logical_receive_ns},
        {AS_RECORD_PHYSICAL_RECEIVE, true, m->physical_receive_ns},
        {AS_RECORD_LOGICAL_REMOTE_SEND, true, m->logical_send_ns},
        {AS_RECORD_PHYSICAL_REMOTE_SEND, true, m->physical_send_ns},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const bool is_receiver = parts[i].is_receiver;
        const struct as_semantic_record record = {.ns = parts[i].ns,
                                                  .number = line->number,
                                                  .kind = parts[i].kind,
                                                  .thread = is_receiver ? m->receiver : m->sender,
                                                  .cpu =
                                                      is_receiver ? m->receiver_cpu : m->sender_cpu,
                                                  .message = *m};
        if (o->kinds >> record.kind & 1)
            AS_TRY(add_record(o, &record, record_classes[record.kind], record.kind));
    }
    return 0;
}

static int add_event(struct as_record_order *o, const struct as_semantic_line *line)
{
    if (!o->has_single && o->now.n == 0) { /* without the part of messages */
        o->has_single = true;
        o->single_class = record_classes[AS_RECORD_EVENT];
        o->single_index = 0;
        o->single.ns = line->ns;
        o->single.number = line->number;
        o->single.kind = AS_RECORD_EVENT;
        o->single.thread = line->thread;
        o->single.cpu = line->cpu;
        o->single.event.type = line->event.type;
        o->single.event.value = line->event.value;
        return 0;
    }
    const struct as_semantic_record record = {.ns = line->ns,
                                              .number = line->number,
                                              .kind = AS_RECORD_EVENT,
                                              .thread = line->thread,
                                              .cpu = line->cpu,
                                              .event = {line->event.type, line->event.value}};
    return add_record(o, &record, record_classes[record.kind], 0);
}

static bool places_are_sorted(const struct as_record_order *o)
{
    for (size_t i = 1; i < o->now.n; i++)
        if (compare_places(&o->now.at[i - 1], &o->now.at[i]) > 0)
            return false;
    return true;
}

/* Hands out the records of now, with those ahead that are of the same time. */
static int hand_out_now(struct as_record_order *o)
{
    const bool is_joined = o->ahead.n && o->ahead.at[0].ns == o->now_ns;
    if (o->has_single && !is_joined) {
        o->has_single = false;
        return o->sink(o->context, &o->single);
    }
    AS_TRY(spill_single(o));
    while (o->ahead.n && o->ahead.at[0].ns == o->now_ns)
        AS_TRY(as_vec_push(&o->now, pop_earliest_record(o)));
    if (!places_are_sorted(o))
        qsort(o->now.at, o->now.n, sizeof *o->now.at, compare_places_void);
    for (size_t i = 0; i < o->now.n; i++) {
        const uint32_t slot = o->now.at[i].slot;
        AS_TRY(o->sink(o->context, &o->slot.at[slot]));
        o->free_slot.at[o->free_slot.n++] = slot;
    }
    o->now.n = 0;
    return 0;
}

int as_record_order_advance(struct as_record_order *o, int64_t ns)
{
    while (o->now_ns < ns) {
        AS_TRY(hand_out_now(o));
        o->now_ns = o->ahead.n && o->ahead.at[0].ns < ns ? o->ahead.at[0].ns : ns;
    }
    return 0;
}

int as_record_order_add(struct as_record_order *o, const struct as_semantic_line *line)
{
    AS_TRY(as_record_order_advance(o, line->ns));
    if (line->kind == AS_LINE_STATE)
        return o->kinds & AS_KINDS_STATE ? add_state(o, line) : 0;
    if (line->kind == AS_LINE_EVENT)
        return o->kinds & AS_KINDS_EVENT ? add_event(o, line) : 0;
    return o->kinds & AS_KINDS_MESSAGE ? add_message(o, line) : 0;
}

int as_record_order_end(struct as_record_order *o)
{
    AS_TRY(as_record_order_advance(o, INT64_MAX));
    return hand_out_now(o);
}

void as_record_order_fini(struct as_record_order *o)
{
    as_vec_fini(&o->now);
    as_vec_fini(&o->ahead);
    as_vec_fini(&o->slot);
    as_vec_fini(&o->free_slot);
}
