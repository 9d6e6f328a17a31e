/* SPDX-License-Identifier: Apache-2.0 */
/* Records of one thread or CPU to steps: filters, gaps of states, functions that look ahead. */
#include "base/error.h"
#include "semantic/node.h"

/* ---- Filters --------------------------------------------------------------------------------- */

static bool part_passes(const struct as_window *w, enum as_filter_part_id part, int64_t value)
{
    return as_filter_passes(&w->filter[part], as_whole(value));
}

static bool event_passes(const struct as_window *w, const struct as_semantic_record *r)
{
    const bool type = part_passes(w, AS_FILTER_TYPE, r->event.type);
    if (w->both_type_value ? !type : type)
        return type;
    return part_passes(w, AS_FILTER_VALUE, r->event.value);
}

/* Physical receives stand for logical ones where they are the later ones. */
static bool kind_of_message_passes(const struct as_window *w, const struct as_semantic_record *r)
{
    const unsigned physical = AS_KIND(PHYSICAL_SEND) | AS_KIND(PHYSICAL_REMOTE_SEND);
    const unsigned physical_receives = AS_KIND(PHYSICAL_RECEIVE) | AS_KIND(PHYSICAL_REMOTE_RECEIVE);
    if (!((physical | physical_receives) >> r->kind & 1))
        return w->takes_logical;
    return w->takes_physical || (w->takes_logical && physical_receives >> r->kind & 1 &&
                                 r->message.logical_receive_ns <= r->message.physical_receive_ns);
}

static int64_t object_of_end(const struct as_window *w, const struct as_machine_objects *objects,
                             uint32_t thread, uint32_t cpu)
{
    if (!as_object_level_is_hardware(w->level))
        return (int64_t)as_objects_above(objects, AS_OBJECT_LEVEL_THREAD, thread, w->level) + 1;
    if (cpu == 0 || cpu > objects->row[AS_OBJECT_LEVEL_CPU].n)
        return 0;
    return (int64_t)as_objects_above(objects, AS_OBJECT_LEVEL_CPU, cpu - 1, w->level) + 1;
}

static struct as_quantity bandwidth_of(const struct as_window *w,
                                       const struct as_semantic_message *m)
{
    int64_t receive_ns = m->physical_receive_ns;
    if (w->takes_logical && m->logical_receive_ns > receive_ns)
        receive_ns = m->logical_receive_ns;
    const int64_t send_ns = w->takes_logical ? m->logical_send_ns : m->physical_send_ns;
    return as_quantity_divide(
        as_whole(m->size_b),
        as_quantity_divide(as_whole(receive_ns - send_ns), as_whole(w->unit_ns)));
}

/* The first and the second pass, or one of them. */
static bool pair_passes(const struct as_window *w, bool both, enum as_filter_part_id a, int64_t x,
                        enum as_filter_part_id b, int64_t y)
{
    if (both)
        return part_passes(w, a, x) && part_passes(w, b, y);
    return part_passes(w, a, x) || part_passes(w, b, y);
}

static bool message_passes(const struct as_window *w, const struct as_machine_objects *objects,
                           const struct as_semantic_record *r)
{
    const struct as_semantic_message *m = &r->message;
    const struct as_object_row *thread = objects->row[AS_OBJECT_LEVEL_THREAD].at;
    const bool same_node = objects->node_of_task.at[thread[m->sender].parent] ==
                           objects->node_of_task.at[thread[m->receiver].parent];
    return kind_of_message_passes(w, r) && (same_node ? w->takes_same_node : w->takes_other_node) &&
           pair_passes(w, w->both_ends, AS_FILTER_FROM,
                       object_of_end(w, objects, m->sender, m->sender_cpu), AS_FILTER_TO,
                       object_of_end(w, objects, m->receiver, m->receiver_cpu)) &&
           pair_passes(w, w->both_tag_size, AS_FILTER_TAG, m->tag, AS_FILTER_SIZE, m->size_b) &&
           as_filter_passes(&w->filter[AS_FILTER_BANDWIDTH], bandwidth_of(w, m));
}

bool as_window_passes(const struct as_window *w, const struct as_machine_objects *objects,
                      const struct as_semantic_record *r)
{
    if (r->kind == AS_RECORD_EVENT)
        return event_passes(w, r);
    return AS_KINDS_STATE >> r->kind & 1 || message_passes(w, objects, r);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static const struct as_semantic_function *leaf_function(const struct as_node *leaf)
{
    return leaf->window->thread.function;
}

/* A step with the value of the piece that began at leaf->begin. */
static int step_value(struct as_node *leaf, const struct as_semantic_record *next, int64_t end_ns)
{
    struct as_thread_state *state = &leaf->thread;
    state->value = leaf_function(leaf)->thread(state, &leaf->begin, next, end_ns);
    return as_node_step(leaf, leaf->begin.ns, state->value);
}

static int begin_waiting(struct as_node *leaf)
{
    struct as_waiting waiting = {
        .ns = leaf->begin.ns, .end_ns = -1, .is_empty = leaf->begin.kind == AS_RECORD_EMPTY};
    if (waiting.is_empty && leaf_function(leaf)->ahead == AS_AHEAD_RECEIVE)
        return as_node_step(leaf, waiting.ns, as_whole(0));
    return as_vec_push(&leaf->waiting, waiting);
}

static int begin_piece(struct as_node *leaf, const struct as_semantic_record *record)
{
    leaf->begin = *record;
    switch (leaf_function(leaf)->ahead) {
    case AS_AHEAD_NOT:
        return step_value(leaf, NULL, -1);
    case AS_AHEAD_NEXT:
        return 0;
    default:
        return begin_waiting(leaf);
    }
}

/* Bytes sent at the time of the event belong to the piece that begins with it. */
static int end_bytes(struct as_node *leaf, int64_t ns)
{
    struct as_waiting *open = &leaf->waiting.at[leaf->waiting.n - 1];
    const int64_t carried_b = leaf->sent_ns == ns ? leaf->sent_b : 0;
    open->bytes -= carried_b;
    open->end_ns = ns;
    return as_vec_push(&leaf->waiting,
                       (struct as_waiting){.ns = ns, .end_ns = -1, .bytes = carried_b});
}

static int next_piece(struct as_node *leaf, const struct as_semantic_record *record)
{
    if (leaf_function(leaf)->ahead == AS_AHEAD_NEXT)
        AS_TRY(step_value(leaf, record, record->ns));
    if (leaf_function(leaf)->ahead != AS_AHEAD_BYTES)
        return begin_piece(leaf, record);
    leaf->begin = *record;
    return end_bytes(leaf, record->ns);
}

int as_leaf_start(struct as_node *leaf)
{
    const struct as_semantic_record empty = {.kind = AS_RECORD_EMPTY, .thread = leaf->begin.thread};
    leaf->sent_ns = -1;
    return begin_piece(leaf, &empty);
}

/* ---- Bytes between events -------------------------------------------------------------------- */

static void add_bytes(struct as_node *leaf, const struct as_semantic_record *r)
{
    if (as_record_is_send(&leaf->thread, r)) {
        leaf->sent_b = (leaf->sent_ns == r->ns ? leaf->sent_b : 0) + r->message.size_b;
        leaf->sent_ns = r->ns;
        leaf->waiting.at[leaf->waiting.n - 1].bytes += r->message.size_b;
        return;
    }
    if (!as_record_is_receive(&leaf->thread, r) || leaf_function(leaf)->special == AS_SPECIAL_SENT)
        return;
    as_vec_foreach (&leaf->waiting, piece) /* in (begin, end]: ends that are not settled are now */
        if (piece->ns < r->ns && (piece->end_ns < 0 || piece->end_ns == r->ns))
            piece->bytes += r->message.size_b;
}

/* The first piece is 0, and so is the last, which no event ends. */
static int settle_bytes(struct as_node *leaf, int64_t now_ns, bool at_end)
{
    size_t n = 0;
    while (n < leaf->waiting.n &&
           (at_end || (leaf->waiting.at[n].end_ns >= 0 && leaf->waiting.at[n].end_ns < now_ns))) {
        const struct as_waiting *piece = &leaf->waiting.at[n++];
        const bool is_known = !piece->is_empty && piece->end_ns >= 0;
        AS_TRY(as_node_step(leaf, piece->ns, as_whole(is_known ? piece->bytes : 0)));
    }
    for (size_t i = n; i < leaf->waiting.n; i++)
        leaf->waiting.at[i - n] = leaf->waiting.at[i];
    leaf->waiting.n -= n;
    return 0;
}

/* The message that is received next gives its value to all pieces that wait. */
static int settle_receive(struct as_node *leaf, const struct as_semantic_record *next)
{
    struct as_semantic_record any = {.kind = AS_RECORD_PHYSICAL_RECEIVE};
    as_vec_foreach (&leaf->waiting, piece)
        AS_TRY(as_node_step(leaf, piece->ns,
                            leaf_function(leaf)->thread(&leaf->thread, &any, next, -1)));
    leaf->waiting.n = 0;
    return 0;
}

/* ---- Records --------------------------------------------------------------------------------- */

static int settle_gaps(struct as_node *leaf, int64_t now_ns)
{
    if (!leaf->gap_n || leaf->gap.ns >= now_ns)
        return 0;
    for (; leaf->gap_n; leaf->gap_n--)
        AS_TRY(next_piece(leaf, &leaf->gap));
    return 0;
}

int as_leaf_settle(struct as_node *leaf, int64_t now_ns)
{
    const enum as_ahead ahead = leaf_function(leaf)->ahead;
    AS_TRY(settle_gaps(leaf, now_ns));
    if (ahead == AS_AHEAD_BYTES)
        AS_TRY(settle_bytes(leaf, now_ns, false));
    leaf->known_ns = leaf->gap_n ? leaf->gap.ns : now_ns;
    if (ahead == AS_AHEAD_NEXT && leaf->begin.ns < leaf->known_ns)
        leaf->known_ns = leaf->begin.ns;
    if (leaf->waiting.n && leaf->waiting.at[0].ns < leaf->known_ns)
        leaf->known_ns = leaf->waiting.at[0].ns;
    return 0;
}

/* The end of a state begins a piece unless a state begins at the same time. */
static int on_state_record(struct as_node *leaf, const struct as_semantic_record *record)
{
    AS_TRY(settle_gaps(leaf, record->ns));
    if (record->kind == AS_RECORD_STATE_END) {
        leaf->gap = *record;
        leaf->gap_n++;
        return 0;
    }
    leaf->gap_n = 0;
    return next_piece(leaf, record);
}

int as_leaf_on_record(struct as_node *leaf, const struct as_semantic_record *record)
{
    const struct as_semantic_function *function = leaf_function(leaf);
    if (!as_window_passes(leaf->window, leaf->thread.objects, record))
        return 0;
    if (function->fills_gaps)
        return on_state_record(leaf, record);
    if (function->ahead == AS_AHEAD_BYTES && record->kind != AS_RECORD_EVENT) {
        AS_TRY(settle_bytes(leaf, record->ns, false));
        add_bytes(leaf, record);
        return 0;
    }
    if (function->ahead == AS_AHEAD_RECEIVE && as_record_is_receive(&leaf->thread, record))
        AS_TRY(settle_receive(leaf, record));
    return next_piece(leaf, record);
}

int as_leaf_end(struct as_node *leaf, int64_t end_ns)
{
    AS_TRY(settle_gaps(leaf, INT64_MAX));
    if (leaf_function(leaf)->ahead == AS_AHEAD_NEXT)
        AS_TRY(step_value(leaf, NULL, end_ns));
    if (leaf_function(leaf)->ahead == AS_AHEAD_BYTES)
        AS_TRY(settle_bytes(leaf, end_ns, true));
    if (leaf_function(leaf)->ahead == AS_AHEAD_RECEIVE)
        AS_TRY(settle_receive(leaf, NULL));
    leaf->known_ns = INT64_MAX;
    return 0;
}
