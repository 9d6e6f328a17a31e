/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/index.h"
#include "base/map.h"
#include "base/out.h"
#include "base/outfile.h"

#define WAITING_MAX ((size_t)4 << 20) /* items in memory, before all series are written */

#define KNOWN_EVENTS 4096u /* a power of two */

/* The series of events of a thread, found again without the maps. */
struct known_events {
    int64_t type;
    uint32_t thread, number; /* of the series, + 1; 0: none */
};

/* A series while it is made. */
struct making_series {
    struct as_timeline_series known;
    AS_VEC(struct as_timeline_item) item; /* not written yet */
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
    AS_VEC(struct as_timeline_message) message; /* not written yet */
    AS_VEC(double) code;
    struct as_map_u64 of_code, of_type, of_events;
    AS_VEC(uint32_t) of_object;                     /* the series of pieces of an object, + 1 */
    struct known_events known_events[KNOWN_EVENTS]; /* by type and thread */
    uint32_t types_n;
    size_t waiting_n;
    uint64_t lines_n;
};

/* ---- Blocks -----------------------------------------------------------------------------------
 */

static void write_words(struct index_writer *w, const void *p, size_t n_b)
{
    as_out_write(&w->out, p, n_b);
    w->offset += n_b;
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
    write_words(w, s->item.at, n * sizeof *s->item.at);
    write_words(w, s->code_ns.at, s->code_ns.n * sizeof *s->code_ns.at);
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

/* ---- Events and messages ----------------------------------------------------------------------
 */

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
    return add_item(w, known->number - 1, &item);
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
    write_words(w, w->message.at, w->message.n * sizeof *w->message.at);
    w->head.messages_n += w->message.n;
    w->message.n = 0;
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
    AS_TRY(as_vec_push(&w->message, one));
    return w->message.n == AS_TIMELINE_MESSAGE_BLOCK_N ? write_messages(w) : 0;
}

static int on_index_line(void *context, const struct as_semantic_line *line)
{
    struct index_writer *w = context;
    if (++w->lines_n % AS_TIMELINE_STEP_LINES == 0 && w->making->on_step)
        w->making->on_step(w->making->context, w->lines_n);
    if (!w->making->with_records || line->kind == AS_LINE_STATE)
        return 0;
    return line->kind == AS_LINE_EVENT ? add_event(w, line) : add_message(w, line);
}

/* ---- Begin and end ----------------------------------------------------------------------------
 */

static void writer_clear(struct index_writer *w)
{
    as_vec_foreach (&w->series, s) {
        as_vec_fini(&s->item);
        as_vec_fini(&s->code_ns);
    }
    as_vec_fini(&w->series);
    as_vec_fini(&w->block);
    as_vec_fini(&w->message_block);
    as_vec_fini(&w->message);
    as_vec_fini(&w->code);
    as_vec_fini(&w->of_object);
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
    h->messages_n = h->events_n = h->pieces_n = h->instants_n = 0;
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
    AS_TRY(write_series(w));
    write_section(w, w->code.at, w->code.n * sizeof *w->code.at, &h->code_at);
    write_section(w, w->message_block.at, w->message_block.n * sizeof *w->message_block.at,
                  &h->message_at);
    h->codes_n = w->code.n;
    h->message_blocks_n = w->message_block.n;
    h->file_b = w->offset;
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
