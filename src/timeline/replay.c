/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "exchange/prv_lines.h"
#include "semantic/ready.h"
#include "timeline/column.h"

#define TIME_END_NS INT64_C(0x0800000000000000) /* readers of traces refuse later times */
#define STOP_LINES  65536u                      /* between two questions whether to stop */
#define DROP_B      ((size_t)4 << 20)           /* of the file, freed at once */

/* A series, or the messages, as far as it was read. */
struct replay_cursor {
    const struct as_timeline_series *series; /* NULL: the messages */
    uint64_t next_block, end_block;
    int64_t ns;      /* of the line that comes next */
    uint32_t at, n;  /* in the block that is read */
    uint64_t number; /* of the line before, in the same block */
    const void *item;
    struct as_timeline_column column[AS_MESSAGE_COLUMNS_N];
};

/* A cursor that has a line, by the time of the line. */
struct replay_place {
    int64_t ns;
    uint32_t cursor;
};

struct index_replay {
    struct as_evaluated *trace;
    struct as_evaluator *evaluation;
    const struct as_timeline_index *index;
    const char *path; /* of the index */
    unsigned kinds;
    uint32_t threads_n;
    bool by_thread, is_unchecked;
    AS_VEC(struct replay_cursor) cursor;
    AS_VEC(struct replay_place) place; /* a heap, the earliest first */
    uint64_t lines_n;
    size_t dropped_b; /* the file before it is not needed any more */
    struct as_error *err;
};

static int replay_damage(struct index_replay *r)
{
    return as_error_set(r->err, AS_ERR_CORRUPT, "%s: is damaged; remove it", r->path);
}

/* ---- Cursors --------------------------------------------------------------------------------- */

static void take_columns(struct replay_cursor *c, const uint8_t *at, uint32_t widths,
                         unsigned columns_n)
{
    memcpy(&c->number, at, sizeof c->number);
    at += sizeof c->number;
    for (unsigned i = 0; i < columns_n; i++)
        c->column[i] = as_timeline_column_take(&at, widths, i, c->n);
    c->number -= (uint64_t)as_timeline_column_value(&c->column[0], 0);
}

static int open_series_block(struct index_replay *r, struct replay_cursor *c)
{
    const struct as_timeline_block *b = &r->index->block[c->next_block++];
    const struct as_timeline_item *item = as_timeline_items(r->index, b);
    if (b->codes_n || (!r->is_unchecked && !as_timeline_block_is_whole(r->index, c->series, b)))
        return replay_damage(r);
    c->item = item;
    c->n = b->n;
    if (c->series->kind == AS_TIMELINE_STATES)
        take_columns(c, (const uint8_t *)item, b->widths, AS_STATE_COLUMNS_N);
    else
        take_columns(c, (const uint8_t *)(item + b->n), b->widths, AS_EVENT_COLUMNS_N);
    return 0;
}

static int open_message_block(struct index_replay *r, struct replay_cursor *c)
{
    const struct as_timeline_message_block *b = &r->index->message_block[c->next_block++];
    const struct as_timeline_message *item = as_timeline_messages(r->index, b);
    if (!r->is_unchecked && !as_timeline_messages_are_whole(r->index, b))
        return replay_damage(r);
    c->item = item;
    c->n = b->n;
    take_columns(c, (const uint8_t *)(item + b->n), b->widths, AS_MESSAGE_COLUMNS_N);
    return 0;
}

static inline int64_t cursor_time(const struct replay_cursor *c)
{
    if (c->series && c->series->kind == AS_TIMELINE_STATES)
        return as_timeline_column_value(&c->column[AS_STATE_TIME], c->at);
    return c->series ? ((const struct as_timeline_item *)c->item)[c->at].ns
                     : ((const struct as_timeline_message *)c->item)[c->at].ns;
}

/* Goes to the next line; *has_line: there is one. Errors: CORRUPT. */
static inline int advance_cursor(struct index_replay *r, struct replay_cursor *c, bool *has_line)
{
    c->at++;
    if (c->at >= c->n) {
        *has_line = c->next_block < c->end_block;
        if (!*has_line)
            return 0;
        AS_TRY(c->series ? open_series_block(r, c) : open_message_block(r, c));
        c->at = 0;
    }
    const int64_t ns = cursor_time(c);
    if (ns < c->ns || ns >= TIME_END_NS)
        return replay_damage(r);
    c->ns = ns;
    *has_line = true;
    return 0;
}

/* Frees the memory of the file before the blocks that are read: they stand in order of time. */
static void drop_read_blocks(struct index_replay *r)
{
    uint64_t first = UINT64_MAX;
    as_vec_foreach (&r->cursor, c) {
        const uint64_t at = (uint64_t)((const uint8_t *)c->item - r->index->map.at);
        const bool is_over = c->at >= c->n && c->next_block == c->end_block;
        first = !is_over && at < first ? at : first;
    }
    if (first == UINT64_MAX || first < r->dropped_b + DROP_B)
        return;
    as_filemap_drop(&r->index->map, r->dropped_b, (size_t)first);
    r->dropped_b = (size_t)first;
}

static bool needs_series(const struct index_replay *r, const struct as_timeline_series *s)
{
    if (s->kind == AS_TIMELINE_STATES)
        return r->kinds & AS_KINDS_STATE;
    return s->kind == AS_TIMELINE_EVENTS && r->kinds & AS_KINDS_EVENT &&
           as_evaluator_takes_type(r->evaluation, s->type);
}

static int add_cursor(struct index_replay *r, const struct replay_cursor *cursor)
{
    struct replay_cursor first = *cursor;
    bool has_line = false;
    if (first.series && first.series->object >= r->threads_n)
        return replay_damage(r);
    AS_TRY(advance_cursor(r, &first, &has_line));
    return has_line ? as_vec_push(&r->cursor, first) : 0;
}

static int compare_cursors(const void *a, const void *b)
{
    const struct replay_cursor *x = a, *y = b;
    const uint32_t thread = x->series->object, other = y->series->object;
    return thread != other ? (thread < other ? -1 : 1)
                           : (x->series > y->series) - (x->series < y->series);
}

/* Lists all that the pass needs: series by thread, then the messages. */
static int list_cursors(struct index_replay *r)
{
    const struct as_timeline_head *h = r->index->head;
    for (uint64_t i = 0; i < h->series_n; i++) {
        const struct as_timeline_series *s = &r->index->series[i];
        const struct replay_cursor cursor = {
            .series = s, .next_block = s->first_block, .end_block = s->first_block + s->blocks_n};
        if (needs_series(r, s))
            AS_TRY(add_cursor(r, &cursor));
    }
    if (r->cursor.n > 1)
        qsort(r->cursor.at, r->cursor.n, sizeof *r->cursor.at, compare_cursors);
    const struct replay_cursor messages = {.end_block = h->message_blocks_n};
    return r->kinds & AS_KINDS_MESSAGE ? add_cursor(r, &messages) : 0;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static int fill_series_line(struct index_replay *r, struct replay_cursor *c,
                            struct as_semantic_line *line)
{
    line->thread = c->series->object;
    line->cpu = (uint32_t)as_timeline_column_value(&c->column[AS_EVENT_CPU], c->at);
    if (c->series->kind == AS_TIMELINE_EVENTS) {
        line->kind = AS_LINE_EVENT;
        line->event.type = c->series->type;
        line->event.value = ((const struct as_timeline_item *)c->item)[c->at].whole;
        return 0;
    }
    const int64_t length_ns = as_timeline_column_value(&c->column[AS_STATE_LENGTH], c->at);
    if (length_ns < AS_STATE_OPEN || length_ns >= TIME_END_NS - c->ns)
        return replay_damage(r);
    line->kind = AS_LINE_STATE;
    line->state.value = as_timeline_column_value(&c->column[AS_STATE_VALUE], c->at);
    line->state.end_ns = length_ns == AS_STATE_OPEN ? -1 : c->ns + length_ns;
    return 0;
}

/* False: beyond all times. */
static bool add_to_time(int64_t begin_ns, const struct as_timeline_column *c, uint32_t at,
                        int64_t *out)
{
    return !__builtin_add_overflow(begin_ns, as_timeline_column_value(c, at), out) && *out >= 0 &&
           *out < TIME_END_NS;
}

static int fill_message_line(struct index_replay *r, const struct replay_cursor *c,
                             struct as_semantic_line *line)
{
    const struct as_timeline_message *item = (const struct as_timeline_message *)c->item + c->at;
    struct as_semantic_message *m = &line->message;
    line->kind = AS_LINE_MESSAGE;
    *m = (struct as_semantic_message){
        .sender = item->sender,
        .receiver = item->receiver,
        .sender_cpu = (uint32_t)as_timeline_column_value(&c->column[AS_MESSAGE_SENDER_CPU], c->at),
        .receiver_cpu =
            (uint32_t)as_timeline_column_value(&c->column[AS_MESSAGE_RECEIVER_CPU], c->at),
        .logical_send_ns = item->send_ns,
        .size_b = item->size_b,
        .tag = item->tag};
    const int64_t send_ns = m->logical_send_ns;
    const bool is_whole =
        add_to_time(send_ns, &c->column[AS_MESSAGE_PHYSICAL_SEND], c->at, &m->physical_send_ns) &&
        add_to_time(send_ns, &c->column[AS_MESSAGE_LOGICAL_RECEIVE], c->at,
                    &m->logical_receive_ns) &&
        add_to_time(send_ns, &c->column[AS_MESSAGE_PHYSICAL_RECEIVE], c->at,
                    &m->physical_receive_ns);
    if (!is_whole || m->sender >= r->threads_n || m->receiver >= r->threads_n ||
        send_ns < line->ns || m->physical_send_ns < line->ns || m->logical_receive_ns < line->ns ||
        m->physical_receive_ns < line->ns)
        return replay_damage(r);
    return 0;
}

/* Hands out the line of a cursor. */
static inline int replay_line(struct index_replay *r, struct replay_cursor *c)
{
    struct as_semantic_line line;
    c->number += (uint64_t)as_timeline_column_value(&c->column[0], c->at);
    line.ns = c->ns;
    line.number = c->number;
    AS_TRY(c->series ? fill_series_line(r, c, &line) : fill_message_line(r, c, &line));
    if (++r->lines_n % STOP_LINES == 0) {
        drop_read_blocks(r);
        if (r->trace->is_stopped && r->trace->is_stopped())
            return as_error_set(r->err, AS_ERR_LIMIT,
                                "the evaluation: stopped by a signal; run it again");
    }
    return r->by_thread ? as_evaluator_add_thread_line(r->evaluation, &line)
                        : as_evaluator_add_line(r->evaluation, &line);
}

/* ---- Order ----------------------------------------------------------------------------------- */

static void sift_replay_down(struct replay_place *heap, size_t n, size_t at)
{
    const struct replay_place place = heap[at];
    size_t child;
    while ((child = 2 * at + 1) < n) {
        child += child + 1 < n && heap[child + 1].ns < heap[child].ns;
        if (place.ns <= heap[child].ns)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = place;
}

/* Hands out the lines of some cursors before `end_ns`; `heap` has `*n` places, in order. */
static int replay_until(struct index_replay *r, struct replay_place *heap, size_t *n,
                        int64_t end_ns)
{
    while (*n && heap[0].ns < end_ns) {
        struct replay_cursor *c = &r->cursor.at[heap[0].cursor];
        const int64_t border_ns =
            *n > 1 ? heap[1].ns < heap[*n > 2 ? 2 : 1].ns ? heap[1].ns : heap[*n > 2 ? 2 : 1].ns
                   : INT64_MAX;
        bool has_line = false;
        do {
            AS_TRY(replay_line(r, c));
            AS_TRY(advance_cursor(r, c, &has_line));
        } while (has_line && c->ns < end_ns && c->ns <= border_ns);
        if (has_line)
            heap[0].ns = c->ns;
        else
            heap[0] = heap[--*n];
        sift_replay_down(heap, *n, 0);
    }
    return 0;
}

/* The cursors of a thread: a heap of its own. */
struct replay_thread {
    size_t first, n;
};

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

typedef AS_VEC(int64_t) replay_times;

/* The ends of parts of the time that have about so many blocks each. */
static int list_parts(const struct index_replay *r, uint32_t part_blocks, replay_times *out)
{
    replay_times begin = {0};
    int rc = 0;
    as_vec_foreach (&r->cursor, c)
        for (uint64_t b = c->series->first_block; rc == 0 && b < c->end_block; b++)
            rc = as_vec_push(&begin, r->index->block[b].first_ns);
    if (begin.n > 1)
        qsort(begin.at, begin.n, sizeof *begin.at, compare_times);
    for (size_t i = part_blocks; rc == 0 && i < begin.n; i += part_blocks)
        rc = as_vec_push(out, begin.at[i]);
    as_vec_fini(&begin);
    return rc;
}

/* The cursors stand by thread. */
static int list_threads_replayed(const struct index_replay *r, struct replay_thread **out,
                                 size_t *n)
{
    struct replay_thread *thread = *out = as_calloc(r->cursor.n + 1, sizeof *thread);
    *n = 0;
    if (!thread)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < r->cursor.n; i++) {
        if (i == 0 || r->cursor.at[i].series->object != r->cursor.at[i - 1].series->object)
            thread[(*n)++].first = i;
        thread[*n - 1].n++;
    }
    return 0;
}

static void order_places(struct replay_place *heap, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_replay_down(heap, n, i);
}

static int replay_part(struct index_replay *r, struct replay_thread *thread, size_t threads_n,
                       int64_t end_ns)
{
    for (size_t i = 0; i < threads_n; i++)
        AS_TRY(replay_until(r, &r->place.at[thread[i].first], &thread[i].n, end_ns));
    return 0;
}

static int replay_by_thread(struct index_replay *r, uint32_t part_blocks)
{
    struct replay_thread *thread = NULL;
    replay_times part = {0};
    size_t threads_n;
    int64_t reached_ns = 0;
    int rc = list_threads_replayed(r, &thread, &threads_n);
    if (rc == 0)
        rc = list_parts(r, part_blocks, &part);
    for (size_t i = 0; rc == 0 && i < threads_n; i++)
        order_places(&r->place.at[thread[i].first], thread[i].n);
    for (size_t i = 0; rc == 0 && i < part.n; i++) {
        if (part.at[i] <= reached_ns)
            continue;
        reached_ns = part.at[i];
        rc = replay_part(r, thread, threads_n, reached_ns);
        if (rc == 0)
            rc = as_evaluator_end_part(r->evaluation, reached_ns);
    }
    if (rc == 0)
        rc = replay_part(r, thread, threads_n, INT64_MAX);
    as_vec_fini(&part);
    as_free(thread);
    return rc;
}

static int replay_lines(struct index_replay *r, const struct as_timeline_evaluation *how)
{
    if (r->index->head->end_ns >= TIME_END_NS)
        return replay_damage(r);
    AS_TRY(list_cursors(r));
    for (uint32_t i = 0; i < r->cursor.n; i++)
        AS_TRY(as_vec_push(&r->place, (struct replay_place){r->cursor.at[i].ns, i}));
    if (!how->by_time)
        AS_TRY(as_evaluator_begin_threads(r->evaluation, &r->by_thread));
    if (r->by_thread)
        return replay_by_thread(r, how->part_blocks ? how->part_blocks : AS_TIMELINE_PART_BLOCKS);
    size_t n = r->place.n;
    order_places(r->place.at, n);
    return replay_until(r, r->place.at, &n, INT64_MAX);
}

static int replay_pass(struct as_evaluated *trace, struct as_evaluator *evaluation,
                       const struct as_timeline_index *index, const char *path,
                       const struct as_timeline_evaluation *how, struct as_error *err)
{
    struct index_replay r = {.trace = trace,
                             .evaluation = evaluation,
                             .index = index,
                             .path = path,
                             .kinds = as_evaluator_kinds(evaluation),
                             .threads_n = (uint32_t)trace->objects.row[AS_OBJECT_LEVEL_THREAD].n,
                             .is_unchecked = how->index,
                             .err = err};
    int rc = replay_lines(&r, how);
    if (rc == 0)
        rc = as_filemap_check(err);
    if (rc == 0)
        rc = as_evaluator_end_pass(evaluation, index->head->end_ns, err);
    as_vec_fini(&r.cursor);
    as_vec_fini(&r.place);
    return rc == AS_ERR_NOMEM ? as_error_nomem(err, path) : rc;
}

/* ---- Index or trace -------------------------------------------------------------------------- */

static const struct as_ready *ready_states(void)
{
    for (size_t i = 0; i < as_ready_n; i++)
        if (strcmp(as_ready_configurations[i].name, AS_TIMELINE_RECORDS) == 0)
            return &as_ready_configurations[i];
    return NULL;
}

/* A trace that cannot be read is a fault of its reading, which follows. */
static int verify_replayed(const struct as_evaluated *trace, const char *path,
                           const struct as_timeline_index *index, struct as_error *damage)
{
    struct as_error ignored = {0};
    uint64_t text_digest;
    AS_TRY(as_lines_digest_file(trace->path, trace->is_stopped, &text_digest, &ignored));
    return as_timeline_index_verify(index, path, text_digest, damage);
}

/* True: there is an index to use; `*damage` says why one is left out. */
static bool open_replayed(const struct as_evaluated *trace, const char *path, bool verifies,
                          struct as_timeline_index *index, struct as_error *damage)
{
    const struct as_ready *ready = ready_states();
    struct as_timeline_identity of;
    struct as_error ignored = {0};
    if (!ready || as_timeline_identify(trace->path, as_view_of(ready->text), &of, &ignored) < 0)
        return false;
    int rc = as_timeline_index_open(path, &of, index, &ignored);
    if (rc == 0 && verifies) {
        rc = verify_replayed(trace, path, index, damage);
        if (rc < 0)
            as_timeline_index_close(index);
    }
    if (rc == AS_ERR_CORRUPT && !*damage->text)
        *damage = ignored;
    if (rc < 0)
        return false;
    if (index->head->has_records && index->head->bad_lines_n == 0)
        return true;
    as_timeline_index_close(index);
    return false;
}

/* A damaged index makes the pass void: the trace is read. */
static int evaluate_pass(struct as_evaluated *trace, struct as_evaluator *evaluation,
                         const struct as_timeline_index *index, const char *path,
                         struct as_timeline_evaluation *how, struct as_error *err)
{
    if (how->from_index) {
        const int rc = replay_pass(trace, evaluation, index, path, how, err);
        if (rc != AS_ERR_CORRUPT && rc != AS_ERR_TRUNCATED)
            return rc;
        how->from_index = false;
        how->damage = *err;
        *err = (struct as_error){0};
        AS_TRY(as_evaluator_restart_pass(evaluation, err));
    }
    return as_evaluated_run_pass(trace, evaluation, err);
}

int as_timeline_evaluate(struct as_evaluated *trace, struct as_evaluator *evaluation,
                         struct as_timeline_evaluation *how, struct as_error *err)
{
    struct as_timeline_index index = {0};
    struct as_str path = {0};
    bool is_needed = true;
    int rc = 0;
    as_str_appendf(&path, "%s.index/" AS_TIMELINE_RECORDS ".index", trace->path);
    how->from_index =
        how->index || open_replayed(trace, as_str_z(&path), how->verifies, &index, &how->damage);
    while (rc == 0 && is_needed) {
        rc = as_evaluator_begin_pass(evaluation, &is_needed, err);
        if (rc == 0 && is_needed)
            rc = evaluate_pass(trace, evaluation, how->index ? how->index : &index, as_str_z(&path),
                               how, err);
    }
    as_timeline_index_close(&index);
    as_str_fini(&path);
    return rc;
}
