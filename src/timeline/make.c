/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "timeline/column.h"
#include "timeline/make_writer.h"

/* ---- Begin and end ----------------------------------------------------------------------------
 */

static void writer_clear(struct as_timeline_writer *w)
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
    struct as_timeline_writer *w = context;
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
    const struct as_making_series *series = context;
    const struct as_timeline_series *x = &series[*(const uint32_t *)a].known,
                                    *y = &series[*(const uint32_t *)b].known;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return x->type < y->type ? -1 : x->type > y->type;
}

static void write_section(struct as_timeline_writer *w, const void *p, size_t n_b, uint64_t *at)
{
    *at = w->offset;
    if (n_b)
        as_timeline_write_words(w, p, n_b);
}

/* Series in order, and their blocks, which follow each other. */
static int write_series(struct as_timeline_writer *w)
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
        as_timeline_write_words(w, s, sizeof *s);
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
    return is_there ? 0 : AS_ERR_NOMEM;
}

static int end_index(struct as_timeline_writer *w, struct as_error *err)
{
    struct as_timeline_head *h = &w->head;
    AS_TRY(as_timeline_write_rest(w));
    AS_TRY(as_timeline_write_messages(w));
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

static int read_trace(struct as_timeline_writer *w, struct as_evaluated *trace,
                      struct as_error *err)
{
    const struct as_evaluator_options options = {.to_ns = INT64_MAX,
                                                 .on_piece = as_timeline_on_piece,
                                                 .on_restart = on_index_restart,
                                                 .context = w};
    struct as_stream_digest digest;
    struct as_evaluator *evaluation = NULL;
    as_stream_digest_init(&digest);
    if (as_evaluator_new(&trace->objects, &options, &evaluation) < 0)
        return as_error_nomem(err, "an index");
    trace->on_line = as_timeline_on_line;
    trace->on_line_context = w;
    trace->digest = &digest;
    int rc = as_evaluator_add(evaluation, w->making->configuration, err);
    if (rc == 0)
        rc = as_evaluated_run(trace, evaluation, err);
    trace->on_line = NULL;
    trace->digest = NULL;
    w->head.text_digest = as_stream_digest_value(&digest);
    w->head.end_ns = as_evaluator_end_ns(evaluation);
    w->head.bad_lines_n = trace->bad.lines_n;
    as_evaluator_free(&evaluation);
    return rc;
}

int as_timeline_make(struct as_evaluated *trace, const struct as_timeline_making *making,
                     const char *path, struct as_error *err)
{
    struct as_timeline_writer *w = as_calloc(1, sizeof *w);
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
        as_timeline_write_words(w, &(struct as_timeline_head){0}, sizeof w->head);
        rc = read_trace(w, trace, err);
        if (rc == 0)
            rc = end_index(w, err);
        if (rc == AS_ERR_NOMEM)
            as_error_nomem(err, path);
        as_out_fini(&w->out);
        rc = as_outfile_end(&w->file, rc, err);
    }
    writer_clear(w);
    as_free(w);
    return rc;
}
