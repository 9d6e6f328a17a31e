/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/perfetto.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "exchange/common.h"
#include "exchange/perfetto_write.h"
#include "trace/write.h"

/* ---- Events ---------------------------------------------------------------------------------- */

/* Fields of TrackEvent with their wire types, and of DebugAnnotation. */
enum event_tag {
    EVENT_CATEGORY = 3 << 3,
    EVENT_NOTE = 4 << 3 | 2,
    EVENT_TYPE = 9 << 3,
    EVENT_NAME = 10 << 3,
    EVENT_TRACK = 11 << 3,
    EVENT_INTEGER = 30 << 3,
    EVENT_REAL = 44 << 3 | 1,
    EVENT_FLOW = 47 << 3 | 1
};
enum event_type { EVENT_BEGIN = 1, EVENT_END, EVENT_INSTANT, EVENT_VALUE };
enum note_tag { NOTE_NAME = 1 << 3, NOTE_INTEGER = 4 << 3 };

struct perfetto_body {
    const struct as_perfetto_writer *w;
    struct as_out *out;
    uint32_t sent, received; /* text indices */
};

static uint8_t *encode_varint_field(uint8_t *at, uint64_t tag, uint64_t value)
{
    return as_trace_number(as_trace_number(at, tag), value);
}

static uint8_t *encode_fixed_field(uint8_t *at, uint64_t tag, uint64_t value)
{
    at = as_trace_number(at, tag);
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

static uint8_t *encode_annotation(uint8_t *at, enum as_perfetto_note name, int64_t value)
{
    *at++ = EVENT_NOTE;
    uint8_t *size = at++;
    at = encode_varint_field(encode_varint_field(at, NOTE_NAME, name), NOTE_INTEGER,
                             (uint64_t)value);
    *size = (uint8_t)(at - size - 1);
    return at;
}

static uint8_t *encode_nonzero_annotation(uint8_t *at, enum as_perfetto_note name, int64_t value)
{
    return value ? encode_annotation(at, name, value) : at;
}

static uint8_t *encode_perfetto_event(uint8_t *at, const struct perfetto_body *body,
                                      const struct as_perfetto_record *r)
{
    static const uint8_t types[] = {
        [AS_PERFETTO_BEGIN] = EVENT_BEGIN,   [AS_PERFETTO_END] = EVENT_END,
        [AS_PERFETTO_SENT] = EVENT_INSTANT,  [AS_PERFETTO_RECEIVED] = EVENT_INSTANT,
        [AS_PERFETTO_INTEGER] = EVENT_VALUE, [AS_PERFETTO_REAL] = EVENT_VALUE,
        [AS_PERFETTO_SAMPLE] = EVENT_INSTANT};
    _Static_assert(sizeof types / sizeof *types == AS_PERFETTO_SAMPLE + 1,
                   "an entry for each of the enumeration");
    const bool is_value = types[r->kind] == EVENT_VALUE;
    at = encode_varint_field(at, EVENT_TYPE, types[r->kind]);
    at = encode_varint_field(at, EVENT_TRACK,
                             is_value ? as_perfetto_counter_track(body->w, r->track)
                                      : as_perfetto_thread_track(body->w, r->track));
    switch (r->kind) {
    case AS_PERFETTO_BEGIN:
    case AS_PERFETTO_SAMPLE:
        at = encode_varint_field(at, EVENT_CATEGORY, r->begin.category);
        return encode_varint_field(at, EVENT_NAME, r->begin.name);
    case AS_PERFETTO_END:
        at = encode_nonzero_annotation(at, AS_PERFETTO_NOTE_SENT, r->end.sent_b);
        at = encode_nonzero_annotation(at, AS_PERFETTO_NOTE_RECEIVED, r->end.received_b);
        return encode_nonzero_annotation(at, AS_PERFETTO_NOTE_MOVED, r->end.moved_b);
    case AS_PERFETTO_INTEGER:
        return encode_varint_field(at, EVENT_INTEGER, (uint64_t)r->value);
    case AS_PERFETTO_REAL:
        return encode_fixed_field(at, EVENT_REAL, (uint64_t)r->value);
    default:
        at = encode_varint_field(at, EVENT_NAME,
                                 r->kind == AS_PERFETTO_SENT ? body->sent : body->received);
        at = encode_varint_field(at, EVENT_CATEGORY, AS_TRACE_OF_MPI_POINT + 1);
        at = encode_fixed_field(at, EVENT_FLOW, r->message.flow);
        at = encode_annotation(at, AS_PERFETTO_NOTE_PARTNER, r->message.partner);
        at = encode_annotation(at, AS_PERFETTO_NOTE_TAG, r->message.tag);
        return encode_annotation(at, AS_PERFETTO_NOTE_SIZE, r->message.size_b);
    }
}

/* Max length of packet and event that fits one byte. The longest event, an instant, has 71
 * bytes. */
#define SHORT_MOST 127

static int write_event_packet(void *context, const void *bytes)
{
    const struct perfetto_body *body = context;
    const struct as_perfetto_record *r = bytes;
    uint8_t packet[SHORT_MOST + 64], *at = packet;
    *at++ = 1 << 3 | 2;
    uint8_t *size = at++;
    at = encode_varint_field(at, AS_PERFETTO_TIMESTAMP << 3,
                             (uint64_t)(r->order / AS_PERFETTO_PLACES_N));
    at = encode_varint_field(at, AS_PERFETTO_SEQUENCE << 3, AS_PERFETTO_SEQUENCE_ID);
    at = encode_varint_field(at, AS_PERFETTO_FLAGS << 3, AS_PERFETTO_NEEDED);
    *at++ = AS_PERFETTO_EVENT << 3 | 2;
    uint8_t *event_size = at++;
    at = encode_perfetto_event(at, body, r);
    assert(at - size - 1 <= SHORT_MOST);
    *event_size = (uint8_t)(at - event_size - 1);
    *size = (uint8_t)(at - size - 1);
    as_out_write(body->out, (const char *)packet, (size_t)(at - packet));
    return 0;
}

/* ---- All ------------------------------------------------------------------------------------- */

static int emit_perfetto(void *writer, struct as_out *out, struct as_error *err)
{
    struct as_perfetto_writer *w = writer;
    struct perfetto_body body = {w, out, 0, 0};
    body.sent = (uint32_t)w->text.n;
    body.received = body.sent + 1;
    if (as_vec_push(&w->text, "send") < 0 || as_vec_push(&w->text, "receive") < 0 ||
        as_perfetto_write_tracks(w, out) < 0)
        return as_error_nomem(err, "the tracks of a trace");
    return as_ordered_read(w->records, write_event_packet, &body, err);
}

static int prepare_writer(struct as_perfetto_writer *w)
{
    as_map_view_init(&w->texts);
    AS_TRY(as_vec_push(&w->text, "")); /* index 0 */
    for (uint32_t p = 0; p < w->trace->process.n; p++) {
        const struct as_trace_process *process = &w->trace->process.at[p];
        uint32_t *names = as_calloc(process->name.n + 1, sizeof *names);
        if (!names || as_vec_push(&w->name, names) < 0) {
            as_free(names);
            return AS_ERR_NOMEM;
        }
        for (uint32_t t = 0; t < process->thread.n; t++)
            AS_TRY(as_vec_push(&w->thread, (struct as_perfetto_thread){.process = p, .thread = t}));
    }
    w->begin_ns = as_exchange_begin_ns(w->trace);
    return as_ordered_new(&w->records, sizeof(struct as_perfetto_record));
}

int as_perfetto_write(const struct as_trace *trace, const char *path,
                      struct as_perfetto_counts *counts, struct as_error *err)
{
    struct as_perfetto_writer w = {.trace = trace, .counts = counts};
    *counts = (struct as_perfetto_counts){0};
    int rc = prepare_writer(&w);
    if (rc < 0)
        as_error_nomem(err, "a trace for Perfetto");
    if (rc == 0)
        rc = as_perfetto_collect(&w, err);
    if (rc == 0)
        rc = as_exchange_write_files(&(struct as_exchange_file){path, emit_perfetto}, 1, &w, err);
    as_ordered_free(&w.records);
    as_vec_foreach (&w.thread, thread)
        as_vec_fini(&thread->frame);
    as_vec_foreach (&w.name, names)
        as_free(*names);
    as_vec_fini(&w.thread);
    as_vec_fini(&w.name);
    as_vec_fini(&w.text);
    as_vec_fini(&w.counter);
    as_map_view_fini(&w.texts);
    return rc;
}
