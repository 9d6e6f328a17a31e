/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/make.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/index.h"
#include "base/map.h"
#include "base/out.h"
#include "base/outfile.h"
#include "timeline/column.h"

#define WAITING_MAX ((size_t)2 << 20) /* items in memory, before all series are written */

#define KNOWN_EVENTS 4096u /* a power of two */

/* The series of events of a thread, found again without the maps. */
struct known_events {
    int64_t type;
    uint32_t thread, number; /* of the series, + 1; 0: none */
};

/* The rest of an event or state, which becomes columns. */
struct item_rest {
    uint64_t number;
    uint32_t cpu;
};

/* A series while it is made. */
struct making_series {
    struct as_timeline_series known;
    AS_VEC(struct as_timeline_item) item; /* not written yet */
    AS_VEC(struct item_rest) rest;        /* of the same, but not of pieces */
    AS_VEC(int64_t) length_ns;            /* of the same, of states alone */
    AS_VEC(uint64_t) code_ns;             /* time by code before the first of them */
    int64_t reached_ns;                   /* of pieces: the end of the latest */
};

struct index_writer {
    const struct as_timeline_making *making;
    struct as_outfile file;
    struct as_out out;
    uint64_t offset;
    struct as_timeline_head head;
    AS_VEC(struct making_series) series;
    AS_VEC(struct as_timeline_block) block; /* in the order of the file */
    AS_VEC(struct as_timeline_message_block) message_block;
    AS_VEC(struct as_timeline_message) message;   /* not written yet */
    AS_VEC(struct as_semantic_line) message_line; /* of the same */
    AS_VEC(double) code;
    struct as_map_u64 of_code, of_type, of_events;
    AS_VEC(uint32_t) of_object;                     /* the series of pieces of an object, + 1 */
    AS_VEC(uint32_t) of_thread;                     /* the series of states of a thread, + 1 */
    struct known_events known_events[KNOWN_EVENTS]; /* by type and thread */
    uint32_t types_n;
    size_t waiting_n;
    uint64_t lines_n;
    uint64_t digest;                             /* of what is written, while it is taken */
    int64_t column[AS_TIMELINE_MESSAGE_BLOCK_N]; /* one that is written */
};

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void write_words(struct index_writer *w, const void *p, size_t n_b)
{
    if (n_b == 0)
        return;
    as_out_write(&w->out, p, n_b);
    w->digest = as_timeline_words_digest(w->digest, p, n_b);
    w->offset += n_b;
}

/* Writes the first `n` of w->column as one, and notes its width. */
static void write_packed_column(struct index_writer *w, uint32_t n, unsigned column,
                                uint32_t *widths)
{
    uint8_t bytes[sizeof w->column + sizeof(int64_t)];
    int64_t min;
    const unsigned width = as_timeline_column_measure(w->column, n, &min);
    as_timeline_column_write(w->column, n, width, min, bytes);
    write_words(w, bytes, as_timeline_column_size_b(width, n));
    *widths |= width << column * AS_TIMELINE_WIDTH_BITS;
}

/* The first number of a block stands alone: its difference is that of the next. */
static void difference_numbers(int64_t *number, uint32_t n)
{
    for (uint32_t i = n; i-- > 1;)
        number[i] = (int64_t)((uint64_t)number[i] - (uint64_t)number[i - 1]);
    number[0] = n > 1 ? number[1] : 0;
}

/* Writes the numbers of lines in w->column. */
static void write_numbers(struct index_writer *w, uint32_t n, uint32_t *widths)
{
    write_words(w, &w->column[0], sizeof w->column[0]);
    difference_numbers(w->column, n);
    write_packed_column(w, n, AS_EVENT_NUMBER, widths);
}

/* Time, value and length of states. */
static void write_states_packed(struct index_writer *w, struct making_series *s, uint32_t n,
                                uint32_t *widths)
{
    for (uint32_t i = 0; i < n; i++)
        w->column[i] = s->item.at[i].ns;
    write_packed_column(w, n, AS_STATE_TIME, widths);
    for (uint32_t i = 0; i < n; i++)
        w->column[i] = s->item.at[i].whole;
    write_packed_column(w, n, AS_STATE_VALUE, widths);
    memcpy(w->column, s->length_ns.at, n * sizeof *w->column);
    write_packed_column(w, n, AS_STATE_LENGTH, widths);
    s->length_ns.n -= n;
    memmove(s->length_ns.at, s->length_ns.at + n, s->length_ns.n * sizeof *s->length_ns.at);
}

static void write_rest(struct index_writer *w, struct making_series *s, uint32_t n,
                       uint32_t *widths)
{
    for (uint32_t i = 0; i < n; i++)
        w->column[i] = (int64_t)s->rest.at[i].number;
    write_numbers(w, n, widths);
    for (uint32_t i = 0; i < n; i++)
        w->column[i] = s->rest.at[i].cpu;
    write_packed_column(w, n, AS_EVENT_CPU, widths);
    if (s->known.kind == AS_TIMELINE_STATES)
        write_states_packed(w, s, n, widths);
    s->rest.n -= n;
    memmove(s->rest.at, s->rest.at + n, s->rest.n * sizeof *s->rest.at);
}

/* Adds up a piece for its block and its series. */
static int sum_piece(struct index_writer *w, struct making_series *s, struct as_timeline_block *b,
                     const struct as_timeline_item *item, int64_t end_ns)
{
    const int64_t length_ns = end_ns - item->ns;
    if (w->head.is_code) {
        while (s->code_ns.n <= item->code)
            AS_TRY(as_vec_push(&s->code_ns, 0));
        s->code_ns.at[item->code] += (uint64_t)length_ns;
        return 0;
    }
    b->integral += item->real * (double)length_ns;
    b->max = b->max > item->real ? b->max : item->real;
    b->min = b->min < item->real ? b->min : item->real;
    return 0;
}

/* Writes the first `n` items; the next one, or the end of the series, ends the last of them. */
static int write_block(struct index_writer *w, uint32_t at, uint32_t n)
{
    struct making_series *s = &w->series.at[at];
    const bool is_pieces = s->known.kind == AS_TIMELINE_PIECES;
    struct as_timeline_block b = {.offset = w->offset,
                                  .first_item = s->known.items_n,
                                  .first_ns = s->item.at[0].ns,
                                  .n = n,
                                  .codes_n = (uint32_t)s->code_ns.n,
                                  .series = at};
    w->digest = 0;
    if (s->known.kind != AS_TIMELINE_STATES)
        write_words(w, s->item.at, n * sizeof *s->item.at);
    write_words(w, s->code_ns.at, s->code_ns.n * sizeof *s->code_ns.at);
    if (!is_pieces)
        write_rest(w, s, n, &b.widths);
    b.digest = w->digest;
    if (is_pieces && !w->head.is_code)
        b.max = b.min = s->item.at[0].real;
    for (uint32_t i = 0; is_pieces && i < n; i++)
        AS_TRY(sum_piece(w, s, &b, &s->item.at[i],
                         i + 1 < s->item.n ? s->item.at[i + 1].ns : s->reached_ns));
    s->known.items_n += n;
    s->known.blocks_n++;
    s->item.n -= n;
    w->waiting_n -= n;
    memmove(s->item.at, s->item.at + n, s->item.n * sizeof *s->item.at);
    return as_vec_push(&w->block, b);
}

/* Bounds the memory: all but the latest item of each series, which has no end yet. */
static int write_waiting(struct index_writer *w)
{
    for (uint32_t i = 0; i < w->series.n; i++)
        if (w->series.at[i].item.n > 1)
            AS_TRY(write_block(w, i, (uint32_t)w->series.at[i].item.n - 1));
    return 0;
}

static int add_item(struct index_writer *w, uint32_t at, const struct as_timeline_item *item)
{
    assert(at < w->series.n);
    struct making_series *s = &w->series.at[at];
    AS_TRY(as_vec_push(&s->item, *item));
    w->waiting_n++;
    if (s->item.n > AS_TIMELINE_BLOCK_N)
        return write_block(w, at, AS_TIMELINE_BLOCK_N);
    return w->waiting_n > (w->making->waiting_max ? w->making->waiting_max : WAITING_MAX)
               ? write_waiting(w)
               : 0;
}

static int add_series(struct index_writer *w, enum as_timeline_kind kind, uint32_t object,
                      int64_t type, uint32_t *at)
{
    const struct making_series s = {.known = {.kind = kind, .object = object, .type = type}};
    *at = (uint32_t)w->series.n;
    return as_vec_push(&w->series, s);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    value = value == 0 ? 0 : value; /* of both zeros one */
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The last code stands for all that are too many. */
static int code_of(struct index_writer *w, double value, uint64_t *out)
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

static int add_value(struct index_writer *w, uint32_t at, int64_t ns, double value)
{
    struct as_timeline_item item = {.ns = ns, .real = value};
    if (w->head.is_code)
        AS_TRY(code_of(w, value, &item.code));
    w->head.pieces_n++;
    return add_item(w, at, &item);
}

static int on_index_piece(void *context, uint32_t time_line, uint32_t object, int64_t begin_ns,
                          int64_t end_ns, struct as_quantity value)
{
    struct index_writer *w = context;
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

/* ---- Events and messages --------------------------------------------------------------------- */

static int events_series(struct index_writer *w, const struct as_semantic_line *line, uint32_t *out)
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

static int add_packed_record(struct index_writer *w, uint32_t at,
                             const struct as_timeline_item *item,
                             const struct as_semantic_line *line)
{
    const struct item_rest rest = {line->number, line->cpu};
    AS_TRY(as_vec_push(&w->series.at[at].rest, rest));
    return add_item(w, at, item);
}

static int add_index_state(struct index_writer *w, const struct as_semantic_line *line)
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

static int add_event(struct index_writer *w, const struct as_semantic_line *line)
{
    const struct as_timeline_item item = {.ns = line->ns, .whole = line->event.value};
    const uint64_t hash = as_hash_mix((uint64_t)line->event.type, line->thread);
    struct known_events *known = &w->known_events[hash % KNOWN_EVENTS];
    if (known->number == 0 || known->type != line->event.type || known->thread != line->thread) {
        uint32_t at;
        AS_TRY(events_series(w, line, &at));
        *known = (struct known_events){line->event.type, line->thread, at + 1};
    }
    w->head.events_n++;
    return add_packed_record(w, known->number - 1, &item, line);
}

/* A time of a message after its logical send; else a CPU. */
static int64_t message_column(const struct as_semantic_message *m, enum as_message_column column)
{
    switch (column) {
    case AS_MESSAGE_SENDER_CPU:
        return m->sender_cpu;
    case AS_MESSAGE_RECEIVER_CPU:
        return m->receiver_cpu;
    case AS_MESSAGE_PHYSICAL_SEND:
        return m->physical_send_ns - m->logical_send_ns;
    case AS_MESSAGE_LOGICAL_RECEIVE:
        return m->logical_receive_ns - m->logical_send_ns;
    default:
        return m->physical_receive_ns - m->logical_send_ns;
    }
}

static int write_messages(struct index_writer *w)
{
    struct as_timeline_message_block b = {
        .offset = w->offset, .first = w->head.messages_n, .n = (uint32_t)w->message.n};
    if (w->message.n == 0)
        return 0;
    b.first_ns = w->message.at[0].ns;
    b.end_ns = INT64_MIN;
    as_vec_foreach (&w->message, m) {
        b.end_ns = b.end_ns > m->send_ns ? b.end_ns : m->send_ns;
        b.end_ns = b.end_ns > m->receive_ns ? b.end_ns : m->receive_ns;
    }
    w->digest = 0;
    write_words(w, w->message.at, w->message.n * sizeof *w->message.at);
    for (uint32_t i = 0; i < b.n; i++)
        w->column[i] = (int64_t)w->message_line.at[i].number;
    write_numbers(w, b.n, &b.widths);
    for (unsigned c = AS_MESSAGE_SENDER_CPU; c < AS_MESSAGE_COLUMNS_N; c++) {
        for (uint32_t i = 0; i < b.n; i++)
            w->column[i] =
                message_column(&w->message_line.at[i].message, (enum as_message_column)c);
        write_packed_column(w, b.n, c, &b.widths);
    }
    b.digest = w->digest;
    w->head.messages_n += w->message.n;
    w->message.n = w->message_line.n = 0;
    return as_vec_push(&w->message_block, b);
}

static int add_message(struct index_writer *w, const struct as_semantic_line *line)
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
    return w->message.n == AS_TIMELINE_MESSAGE_BLOCK_N ? write_messages(w) : 0;
}

static int on_index_line(void *context, const struct as_semantic_line *line)
{
    struct index_writer *w = context;
    if (++w->lines_n % AS_TIMELINE_STEP_LINES == 0 && w->making->on_step)
        w->making->on_step(w->making->context, w->lines_n);
    if (!w->making->with_records)
        return 0;
    if (line->kind == AS_LINE_STATE)
        return add_index_state(w, line);
    return line->kind == AS_LINE_EVENT ? add_event(w, line) : add_message(w, line);
}

/* ---- Begin and end --------------------------------------------------------------------------- */

static void writer_clear(struct index_writer *w)
{
    as_vec_foreach (&w->series, s) {
        as_vec_fini(&s->item);
        as_vec_fini(&s->rest);
        as_vec_fini(&s->length_ns);
        as_vec_fini(&s->code_ns);
    }
    as_vec_fini(&w->series);
    as_vec_fini(&w->block);
    as_vec_fini(&w->message_block);
    as_vec_fini(&w->message);
    as_vec_fini(&w->message_line);
    as_vec_fini(&w->code);
    as_vec_fini(&w->of_object);
    as_vec_fini(&w->of_thread);
    as_map_u64_fini(&w->of_code);
    as_map_u64_fini(&w->of_type);
    as_map_u64_fini(&w->of_events);
}

/* Lines out of order begin the reading anew: blocks that are written stay as bytes without use. */
static void on_index_restart(void *context)
{
    struct index_writer *w = context;
    struct as_timeline_head *h = &w->head;
    writer_clear(w);
    as_map_u64_init(&w->of_code);
    as_map_u64_init(&w->of_type);
    as_map_u64_init(&w->of_events);
    h->messages_n = h->events_n = h->states_n = h->pieces_n = h->instants_n = 0;
    memset(w->known_events, 0, sizeof w->known_events);
    w->types_n = 0;
    w->waiting_n = 0;
    w->lines_n = 0;
}

static int compare_series(const void *a, const void *b, void *context)
{
    const struct making_series *series = context;
    const struct as_timeline_series *x = &series[*(const uint32_t *)a].known,
                                    *y = &series[*(const uint32_t *)b].known;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return x->type < y->type ? -1 : x->type > y->type;
}

static void write_section(struct index_writer *w, const void *p, size_t n_b, uint64_t *at)
{
    *at = w->offset;
    if (n_b)
        write_words(w, p, n_b);
}

/* Series in order, and their blocks, which follow each other. */
static int write_series(struct index_writer *w)
{
    struct as_timeline_head *h = &w->head;
    uint32_t *order = as_calloc(w->series.n + 1, sizeof *order);
    struct as_timeline_block *sorted = as_calloc(w->block.n + 1, sizeof *sorted);
    uint64_t *next = as_calloc(w->series.n + 1, sizeof *next), first = 0;
    const bool is_there = order && sorted && next;
    for (uint32_t i = 0; is_there && i < w->series.n; i++)
        order[i] = i;
    if (is_there && w->series.n)
        qsort_r(order, w->series.n, sizeof *order, compare_series, w->series.at);
    h->series_at = w->offset;
    for (size_t i = 0; is_there && i < w->series.n; i++) {
        struct as_timeline_series *s = &w->series.at[order[i]].known;
        s->first_block = next[order[i]] = first;
        s->end_ns = s->kind == AS_TIMELINE_PIECES ? w->series.at[order[i]].reached_ns : 0;
        first += s->blocks_n;
        write_words(w, s, sizeof *s);
    }
    for (size_t i = 0; is_there && i < w->block.n; i++)
        sorted[next[w->block.at[i].series]++] = w->block.at[i];
    if (is_there)
        write_section(w, sorted, w->block.n * sizeof *sorted, &h->block_at);
    h->series_n = w->series.n;
    h->blocks_n = w->block.n;
    as_free(order);
    as_free(sorted);
    as_free(next);
    return is_there ? 0 : ASSAY_ERR_NOMEM;
}

static int end_index(struct index_writer *w, struct assay_error *err)
{
    struct as_timeline_head *h = &w->head;
    for (uint32_t i = 0; i < w->series.n; i++)
        while (w->series.at[i].item.n) {
            const size_t n = w->series.at[i].item.n;
            AS_TRY(write_block(w, i, n < AS_TIMELINE_BLOCK_N ? (uint32_t)n : AS_TIMELINE_BLOCK_N));
        }
    AS_TRY(write_messages(w));
    w->digest = 1;
    AS_TRY(write_series(w));
    write_section(w, w->code.at, w->code.n * sizeof *w->code.at, &h->code_at);
    write_section(w, w->message_block.at, w->message_block.n * sizeof *w->message_block.at,
                  &h->message_at);
    h->codes_n = w->code.n;
    h->message_blocks_n = w->message_block.n;
    h->file_b = w->offset;
    h->digest = 0;
    h->digest = as_timeline_words_digest(w->digest, h, sizeof *h);
    AS_TRY(as_out_flush(&w->out, err));
    errno = 0;
    if (pwrite(w->file.fd, h, sizeof *h, 0) != (ssize_t)sizeof *h)
        return as_outfile_refused(w->file.path, errno ? errno : ENOSPC, err);
    return 0;
}

static int read_trace(struct index_writer *w, struct as_evaluated *trace, struct assay_error *err)
{
    const struct as_evaluator_options options = {.to_ns = INT64_MAX,
                                                 .on_piece = on_index_piece,
                                                 .on_restart = on_index_restart,
                                                 .context = w};
    struct as_evaluator *evaluation = NULL;
    if (as_evaluator_new(&trace->objects, &options, &evaluation) < 0)
        return as_error_nomem(err, "an index");
    trace->on_line = on_index_line;
    trace->on_line_context = w;
    int rc = as_evaluator_add(evaluation, w->making->configuration, err);
    if (rc == 0)
        rc = as_evaluated_run(trace, evaluation, err);
    trace->on_line = NULL;
    w->head.end_ns = as_evaluator_end_ns(evaluation);
    w->head.bad_lines_n = trace->bad.lines_n;
    as_evaluator_free(&evaluation);
    return rc;
}

int as_timeline_make(struct as_evaluated *trace, const struct as_timeline_making *making,
                     const char *path, struct assay_error *err)
{
    struct index_writer *w = as_calloc(1, sizeof *w);
    if (!w)
        return as_error_nomem(err, path);
    const struct as_configuration *c = making->configuration;
    const struct as_window *window = &c->window.at[c->window.n - 1];
    w->making = making;
    w->head = (struct as_timeline_head){.magic = AS_TIMELINE_MAGIC,
                                        .version = AS_TIMELINE_VERSION,
                                        .level = (uint32_t)window->level,
                                        .of = making->of,
                                        .is_code = window->is_code,
                                        .has_records = making->with_records};
    on_index_restart(w);
    int rc = as_outfile_begin(&w->file, path, AS_OUTFILE_FOREIGN | AS_OUTFILE_REPLACE, err);
    if (rc == 0) {
        as_out_init_fd(&w->out, w->file.fd, path);
        write_words(w, &(struct as_timeline_head){0}, sizeof w->head);
        rc = read_trace(w, trace, err);
        if (rc == 0)
            rc = end_index(w, err);
        if (rc == ASSAY_ERR_NOMEM)
            as_error_nomem(err, path);
        as_out_fini(&w->out);
        rc = as_outfile_end(&w->file, rc, err);
    }
    writer_clear(w);
    as_free(w);
    return rc;
}
