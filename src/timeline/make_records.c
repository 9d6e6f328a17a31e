/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces, states, events and messages on their way to the series of an index. */
#include <string.h>

#include "base/error.h"
#include "base/index.h"
#include "timeline/column.h"
#include "timeline/make_writer.h"

static int add_series(struct as_timeline_writer *w, enum as_timeline_kind kind, uint32_t object,
                      int64_t type, uint32_t *at)
{
    const struct as_making_series s = {.known = {.kind = kind, .object = object, .type = type}};
    *at = (uint32_t)w->series.n;
    return as_vec_push(&w->series, s);
}

/* ---- Pieces -----------------------------------------------------------------------------------
 */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    value = value == 0 ? 0 : value; /* of both zeros one */
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The last code stands for all that are too many. */
static int code_of(struct as_timeline_writer *w, double value, uint64_t *out)
{
    const uint32_t known = as_map_u64_get(&w->of_code, bits_of(value));
    *out = known;
    if (known != AS_MAP_NONE)
        return 0;
    *out = w->code.n;
    if (w->code.n == AS_TIMELINE_CODES_MAX) {
        *out = AS_TIMELINE_CODES_MAX - 1;
        return 0;
    }
    AS_TRY(as_map_u64_put(&w->of_code, bits_of(value), (uint32_t)w->code.n));
    return as_vec_push(&w->code, value);
}

static int add_value(struct as_timeline_writer *w, uint32_t at, int64_t ns, double value)
{
    struct as_timeline_item item = {.ns = ns, .real = value};
    if (w->head.is_code)
        AS_TRY(code_of(w, value, &item.code));
    w->head.pieces_n++;
    return as_timeline_add_item(w, at, &item);
}

int as_timeline_on_piece(void *context, uint32_t time_line, uint32_t object, int64_t begin_ns,
                         int64_t end_ns, struct as_quantity value)
{
    struct as_timeline_writer *w = context;
    uint32_t at;
    (void)time_line;
    if (begin_ns >= end_ns) {
        w->head.instants_n++;
        return 0;
    }
    while (w->of_object.n <= object)
        AS_TRY(as_vec_push(&w->of_object, 0));
    if (w->of_object.at[object] == 0) {
        AS_TRY(add_series(w, AS_TIMELINE_PIECES, object, 0, &at));
        w->of_object.at[object] = at + 1;
    }
    at = w->of_object.at[object] - 1;
    const int64_t reached_ns = w->series.at[at].reached_ns;
    if (begin_ns > reached_ns)
        AS_TRY(add_value(w, at, reached_ns, 0));
    AS_TRY(add_value(w, at, begin_ns, as_quantity_double(value)));
    w->series.at[at].reached_ns = end_ns;
    return 0;
}

/* ---- Events and messages ----------------------------------------------------------------------
 */

static int events_series(struct as_timeline_writer *w, const struct as_semantic_line *line,
                         uint32_t *out)
{
    uint32_t type = as_map_u64_get(&w->of_type, (uint64_t)line->event.type);
    if (type == AS_MAP_NONE) {
        type = w->types_n++;
        AS_TRY(as_map_u64_put(&w->of_type, (uint64_t)line->event.type, type));
    }
    const uint64_t key = (uint64_t)line->thread << 32 | type;
    uint32_t at = as_map_u64_get(&w->of_events, key);
    if (at == AS_MAP_NONE) {
        AS_TRY(add_series(w, AS_TIMELINE_EVENTS, line->thread, line->event.type, &at));
        AS_TRY(as_map_u64_put(&w->of_events, key, at));
    }
    *out = at;
    return 0;
}

static int add_packed_record(struct as_timeline_writer *w, uint32_t at,
                             const struct as_timeline_item *item,
                             const struct as_semantic_line *line)
{
    const struct as_item_rest rest = {line->number, line->cpu};
    AS_TRY(as_vec_push(&w->series.at[at].rest, rest));
    return as_timeline_add_item(w, at, item);
}

static int add_index_state(struct as_timeline_writer *w, const struct as_semantic_line *line)
{
    const struct as_timeline_item item = {.ns = line->ns, .whole = line->state.value};
    uint32_t at;
    while (w->of_thread.n <= line->thread)
        AS_TRY(as_vec_push(&w->of_thread, 0));
    if (w->of_thread.at[line->thread] == 0) {
        AS_TRY(add_series(w, AS_TIMELINE_STATES, line->thread, 0, &at));
        w->of_thread.at[line->thread] = at + 1;
    }
    w->head.states_n++;
    at = w->of_thread.at[line->thread] - 1;
    AS_TRY(as_vec_push(&w->series.at[at].length_ns,
                       line->state.end_ns < 0 ? AS_STATE_OPEN : line->state.end_ns - line->ns));
    return add_packed_record(w, at, &item, line);
}

static int add_event(struct as_timeline_writer *w, const struct as_semantic_line *line)
{
    const struct as_timeline_item item = {.ns = line->ns, .whole = line->event.value};
    const uint64_t hash = as_hash_mix((uint64_t)line->event.type, line->thread);
    struct as_known_events *known = &w->known_events[hash % AS_KNOWN_EVENTS];
    if (known->number == 0 || known->type != line->event.type || known->thread != line->thread) {
        uint32_t at;
        AS_TRY(events_series(w, line, &at));
        *known = (struct as_known_events){line->event.type, line->thread, at + 1};
    }
    w->head.events_n++;
    return add_packed_record(w, known->number - 1, &item, line);
}

static int add_message(struct as_timeline_writer *w, const struct as_semantic_line *line)
{
    const struct as_semantic_message *m = &line->message;
    const int64_t receive_ns = m->logical_receive_ns > m->physical_receive_ns
                                   ? m->logical_receive_ns
                                   : m->physical_receive_ns;
    const struct as_timeline_message one = {.ns = line->ns,
                                            .send_ns = m->logical_send_ns,
                                            .receive_ns = receive_ns,
                                            .sender = m->sender,
                                            .receiver = m->receiver,
                                            .size_b = m->size_b,
                                            .tag = m->tag};
    AS_TRY(as_vec_push(&w->message_line, *line));
    AS_TRY(as_vec_push(&w->message, one));
    return w->message.n == AS_TIMELINE_MESSAGE_BLOCK_N ? as_timeline_write_messages(w) : 0;
}

int as_timeline_on_line(void *context, const struct as_semantic_line *line)
{
    struct as_timeline_writer *w = context;
    if (++w->lines_n % AS_TIMELINE_STEP_LINES == 0 && w->making->on_step)
        w->making->on_step(w->making->context, w->lines_n);
    if (!w->making->with_records)
        return 0;
    if (line->kind == AS_LINE_STATE)
        return add_index_state(w, line);
    return line->kind == AS_LINE_EVENT ? add_event(w, line) : add_message(w, line);
}
