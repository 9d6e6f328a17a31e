/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace, sends its lines through the stages, and writes the file. The order of the stages
 * is fixed: shift, cut, translation, filter, counters. The first line has the end of the trace:
 * shifted times and whole states at borders cost one or two readings more.
 */
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "edit/edit_stage.h"
#include "exchange/ordered.h"
#include "exchange/prv_lines.h"

#define STAGES_MAX 6
#define STOP_LINES 65536u /* between two questions whether to stop */
#define FIELDS_MAX 16
#define FIELD_B    21 /* a colon, a sign, 19 digits */

struct edit_running {
    const struct as_edit *edit;
    const char *path, *date;
    struct as_out *out;
    struct as_edit_counts *counts;
    struct as_prv_file *file; /* of the header; its lines are not read */
    const struct as_prv_header *header;
    struct as_prv_pcf labels;
    struct as_edit_trace trace; /* after the cut */
    struct as_edit_part part;
    int64_t *shift_ns; /* of each thread; NULL: times stay */
    int64_t end_ns;    /* of the trace before the cut */
    uint32_t *task;    /* of each thread */
};

/* ---- The last stage: measuring or writing ---------------------------------------------------- */

struct measure_stage {
    struct as_edit_stage stage;
    int64_t first_ns, last_ns; /* of all times */
    int64_t original_last_ns;  /* before a shift; of the source */
};

static void note_time(struct measure_stage *m, int64_t ns)
{
    if (ns < m->first_ns)
        m->first_ns = ns;
    if (ns > m->last_ns)
        m->last_ns = ns;
}

static int measure_line(struct as_edit_stage *stage, struct as_prv_line_read *line,
                        struct as_error *err)
{
    struct measure_stage *m = (struct measure_stage *)stage;
    (void)err;
    if (line->kind == AS_PRV_LINE_OTHER)
        return 0;
    note_time(m, line->ns);
    if (line->kind == AS_PRV_LINE_STATE && line->end_ns >= 0)
        note_time(m, line->end_ns);
    if (line->kind == AS_PRV_LINE_MESSAGE) {
        note_time(m, line->physical_send_ns);
        note_time(m, line->logical_receive_ns);
        note_time(m, line->physical_receive_ns);
    }
    return 0;
}

struct write_stage {
    struct as_edit_stage stage;
    struct edit_running *run;
};

static char *write_field(char *p, int64_t value)
{
    char digits[24];
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    size_t n = sizeof digits;
    do
        digits[--n] = (char)('0' + rest % 10);
    while (rest /= 10);
    *p++ = ':';
    if (value < 0)
        *p++ = '-';
    memcpy(p, digits + n, sizeof digits - n);
    return p + sizeof digits - n;
}

/* ":cpu:application:task:thread" */
static char *write_place(const struct edit_running *r, char *p, uint32_t cpu, uint32_t thread)
{
    const struct as_prv_header *h = r->header;
    const uint32_t at = r->task[thread];
    const struct as_prv_task *task = &h->task.at[at];
    p = write_field(p, cpu);
    p = write_field(p, (int64_t)task->application + 1);
    p = write_field(p, (int64_t)at - h->application.at[task->application] + 1);
    return write_field(p, (int64_t)thread - task->first_thread + 1);
}

static int write_line(struct as_edit_stage *stage, struct as_prv_line_read *line,
                      struct as_error *err)
{
    struct edit_running *r = ((struct write_stage *)stage)->run;
    const int64_t unit_ns = r->header->unit_ns;
    (void)err;
    if (line->kind == AS_PRV_LINE_OTHER) {
        as_out_view(r->out, line->text);
        as_out_c(r->out, '\n');
        return 0;
    }
    char text[FIELDS_MAX * FIELD_B], *p = text;
    *p++ = (char)('0' + line->kind);
    p = write_place(r, p, line->cpu, line->thread);
    p = write_field(p, line->ns / unit_ns);
    if (line->kind == AS_PRV_LINE_STATE) {
        p = write_field(p, line->end_ns < 0 ? -1 : line->end_ns / unit_ns);
        p = write_field(p, line->state);
    } else if (line->kind == AS_PRV_LINE_MESSAGE) {
        p = write_field(p, line->physical_send_ns / unit_ns);
        p = write_place(r, p, line->receiver_cpu, line->receiver);
        p = write_field(p, line->logical_receive_ns / unit_ns);
        p = write_field(p, line->physical_receive_ns / unit_ns);
        p = write_field(p, line->size_b);
        p = write_field(p, line->tag);
    }
    for (size_t i = 0; line->kind == AS_PRV_LINE_EVENTS && i + 1 < line->value.n; i += 2) {
        as_out_write(r->out, text, (size_t)(p - text));
        p = write_field(text, line->value.at[i]);
        p = write_field(p, line->value.at[i + 1]);
    }
    *p++ = '\n';
    as_out_write(r->out, text, (size_t)(p - text));
    r->counts->written_n++;
    return 0;
}

/* ---- Sources --------------------------------------------------------------------------------- */

/* A line on its way through the sorting; of events one for each pair. */
struct sorted_line {
    int64_t ns;
    uint64_t number;
    struct as_prv_line_read line; /* without its values and text */
    int64_t type, value;          /* of other text: place and size in the texts */
};
_Static_assert(offsetof(struct sorted_line, ns) == 0, "ordered by its first number");

static int check_stop(const struct edit_running *r, uint64_t n, struct as_error *err)
{
    if (n % STOP_LINES || !r->edit->is_stopped || !r->edit->is_stopped())
        return 0;
    return as_error_set(err, AS_ERR_LIMIT, "the edit: stopped by a signal; run it again");
}

/* Opens the file behind its head, which write_head() copies. */
static int open_body(const struct edit_running *r, struct as_prv_file **out, struct as_error *err)
{
    AS_TRY(as_prv_file_open(r->path, out, err));
    as_prv_file_keep_others(*out);
    return 0;
}

static int read_in_order(struct edit_running *r, struct as_edit_stage *first, struct as_error *err)
{
    struct as_prv_file *file = NULL;
    const struct as_prv_line_read *line;
    uint64_t n = 0;
    AS_TRY(open_body(r, &file, err));
    int rc;
    while ((rc = as_prv_file_next(file, &line, err)) > 0) {
        struct as_prv_line_read copy = *line;
        n += line->kind != AS_PRV_LINE_OTHER;
        rc = first->on_line(first, &copy, err);
        if (rc == 0)
            rc = check_stop(r, n, err);
        if (rc < 0)
            break;
    }
    r->counts->read_n = n;
    r->counts->bad = as_prv_file_bad(file);
    as_prv_file_close(&file);
    return rc < 0 ? rc : 0;
}

static int refuse_early_time(const struct edit_running *r, int64_t ns, struct as_error *err)
{
    return as_error_set(err, AS_ERR_USAGE,
                        "--shift: a record of %s would be %lld ns before 0; shift the others "
                        "later instead",
                        r->path, (long long)-ns);
}

/* Moves the times of a line. Errors: USAGE (a time below 0). */
static int shift_line(const struct edit_running *r, struct as_prv_line_read *line,
                      struct as_error *err)
{
    const int64_t by_ns = r->shift_ns[line->thread];
    int64_t first_ns = line->ns += by_ns;
    if (line->kind == AS_PRV_LINE_STATE && line->end_ns >= 0)
        line->end_ns += by_ns;
    if (line->kind == AS_PRV_LINE_MESSAGE) {
        const int64_t other_ns = r->shift_ns[line->receiver];
        line->physical_send_ns += by_ns;
        line->logical_receive_ns += other_ns;
        line->physical_receive_ns += other_ns;
        first_ns = line->physical_send_ns < first_ns ? line->physical_send_ns : first_ns;
        first_ns = line->logical_receive_ns < first_ns ? line->logical_receive_ns : first_ns;
        first_ns = line->physical_receive_ns < first_ns ? line->physical_receive_ns : first_ns;
    }
    return first_ns < 0 ? refuse_early_time(r, first_ns, err) : 0;
}

/* Sorting needs one stage of its own, which gets lines in the order of the file. */
struct sort_stage {
    struct as_edit_stage stage;
    struct edit_running *run;
    struct as_ordered_store *store;
    struct as_str texts; /* of other lines */
    uint64_t number;
    int64_t latest_ns; /* of the line before: the place of text */
};

static int sort_one(struct sort_stage *s, const struct sorted_line *one, struct as_error *err)
{
    return as_ordered_add(s->store, one, err);
}

static int sort_line(struct as_edit_stage *stage, struct as_prv_line_read *line,
                     struct as_error *err)
{
    struct sort_stage *s = (struct sort_stage *)stage;
    struct sorted_line one = {.number = ++s->number, .line = *line};
    one.line.value.at = NULL;
    one.line.value.n = one.line.value.cap = 0;
    if (line->kind == AS_PRV_LINE_OTHER) {
        one.ns = s->latest_ns;
        one.type = (int64_t)s->texts.n;
        one.value = (int64_t)line->text.n;
        as_str_append(&s->texts, line->text.p, line->text.n);
        return s->texts.failed ? as_error_nomem(err, "comments of a trace")
                               : sort_one(s, &one, err);
    }
    AS_TRY(shift_line(s->run, &one.line, err));
    one.ns = s->latest_ns = one.line.ns;
    if (line->kind != AS_PRV_LINE_EVENTS)
        return sort_one(s, &one, err);
    for (size_t i = 0; i + 1 < line->value.n; i += 2) {
        one.type = line->value.at[i];
        one.value = line->value.at[i + 1];
        AS_TRY(sort_one(s, &one, err));
    }
    return 0;
}

/* Hands on the lines of the store, pairs of a line together. */
static int deliver_sorted_lines(struct sort_stage *s, struct as_edit_stage *first,
                                struct as_error *err)
{
    struct as_prv_line_read line = {0};
    const void *record;
    uint64_t number = 0;
    int rc = 0;
    while (rc == 0 && (rc = as_ordered_next(s->store, &record, err)) == 0) {
        const struct sorted_line *one = record;
        if (number && (!one || one->number != number)) {
            rc = first->on_line(first, &line, err);
            if (rc == 0)
                rc = check_stop(s->run, number, err);
        }
        if (rc < 0 || !one)
            break;
        if (one->number != number) {
            __typeof__(line.value) value = line.value;
            line = one->line;
            line.value = value;
            line.value.n = 0;
            number = one->number;
        }
        if (line.kind == AS_PRV_LINE_OTHER)
            line.text = (struct as_view){s->texts.p + one->type, (size_t)one->value};
        if (line.kind == AS_PRV_LINE_EVENTS &&
            (as_vec_push(&line.value, one->type) < 0 || as_vec_push(&line.value, one->value) < 0))
            rc = as_error_nomem(err, "lines of a trace");
    }
    as_vec_fini(&line.value);
    return rc;
}

static int read_sorted(struct edit_running *r, struct as_edit_stage *first, struct as_error *err)
{
    struct sort_stage s = {.stage = {.on_line = sort_line}, .run = r};
    if (as_ordered_new(&s.store, sizeof(struct sorted_line)) < 0)
        return as_error_nomem(err, "lines of a trace");
    int rc = read_in_order(r, &s.stage, err);
    if (rc == 0)
        rc = as_ordered_begin(s.store, err);
    if (rc == 0)
        rc = deliver_sorted_lines(&s, first, err);
    as_ordered_free(&s.store);
    as_str_fini(&s.texts);
    return rc;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

struct edit_chain {
    struct as_edit_stage *stage[STAGES_MAX];
    size_t n;
};

static void free_chain(struct edit_chain *chain)
{
    for (size_t i = 0; i < chain->n; i++)
        if (chain->stage[i]->fini)
            chain->stage[i]->fini(chain->stage[i]);
    chain->n = 0;
}

static void add_stage(struct edit_chain *chain, struct as_edit_stage *stage)
{
    if (chain->n)
        chain->stage[chain->n - 1]->next = stage;
    chain->stage[chain->n++] = stage;
}

static int add_cut(struct edit_running *r, struct edit_chain *chain, struct as_error *err)
{
    struct as_edit_stage *stage = NULL;
    if (!r->edit->cut.is_on)
        return 0;
    AS_TRY(as_edit_cut_new(r->edit, &r->trace, &r->part, &stage, err));
    add_stage(chain, stage);
    return 0;
}

static int add_others(struct edit_running *r, struct edit_chain *chain, struct as_error *err)
{
    struct as_edit_stage *stage = NULL;
    if (r->edit->translation.n || r->edit->like) {
        AS_TRY(as_edit_translate_new(r->edit, &r->trace, &stage, err));
        add_stage(chain, stage);
    }
    if (r->edit->filter.is_on) {
        AS_TRY(as_edit_filter_new(r->edit, &r->trace, &stage, err));
        add_stage(chain, stage);
    }
    if (r->edit->counters.is_on) {
        AS_TRY(as_edit_counters_new(r->edit, &r->trace, &stage, err));
        add_stage(chain, stage);
    }
    return 0;
}

/* Sends all lines through the chain, and frees it. */
static int run_chain(struct edit_running *r, struct edit_chain *chain, struct as_error *err)
{
    int rc =
        r->shift_ns ? read_sorted(r, chain->stage[0], err) : read_in_order(r, chain->stage[0], err);
    for (size_t i = 0; rc == 0 && i < chain->n; i++)
        if (chain->stage[i]->on_end)
            rc = chain->stage[i]->on_end(chain->stage[i], err);
    free_chain(chain);
    return rc;
}

/* Times of the records, after the shift; `is_cut`: of those that the cut leaves. */
static int measure_times(struct edit_running *r, bool is_cut, struct measure_stage *m,
                         struct as_error *err)
{
    struct edit_chain chain = {0};
    *m = (struct measure_stage){
        .stage = {.on_line = measure_line}, .first_ns = INT64_MAX, .last_ns = 0};
    if (is_cut)
        AS_TRY(add_cut(r, &chain, err));
    add_stage(&chain, &m->stage);
    return run_chain(r, &chain, err);
}

/* The end of the trace after the shift: as far behind the last record as before. */
static int measure_shift(struct edit_running *r, struct as_error *err)
{
    struct measure_stage before, after;
    int64_t *shift_ns = r->shift_ns;
    r->shift_ns = NULL;
    int rc = measure_times(r, false, &before, err);
    r->shift_ns = shift_ns;
    if (rc == 0)
        rc = measure_times(r, false, &after, err);
    if (rc == 0)
        r->end_ns = after.last_ns + (r->end_ns > before.last_ns ? r->end_ns - before.last_ns : 0);
    return rc;
}

/* ---- The part -------------------------------------------------------------------------------- */

static int64_t time_of_percent(int64_t end_ns, double pct)
{
    const double ns = (double)end_ns / 100 * pct;
    return pct >= 100 ? end_ns : (int64_t)ns;
}

static int place_part(struct edit_running *r, struct as_error *err)
{
    const struct as_edit_cut *cut = &r->edit->cut;
    const int64_t unit_ns = r->header->unit_ns;
    int64_t from_ns = cut->from_ns, to_ns = cut->to_ns;
    if (cut->is_percent) {
        from_ns = time_of_percent(r->end_ns, cut->from_pct);
        to_ns = time_of_percent(r->end_ns, cut->to_pct);
    }
    if (from_ns > r->end_ns)
        return as_error_set(err, AS_ERR_USAGE,
                            "--cut: the part begins behind the end of %s, %lld ns; use an earlier "
                            "begin",
                            r->path, (long long)r->end_ns);
    to_ns = to_ns < r->end_ns ? to_ns : r->end_ns;
    from_ns += (unit_ns - from_ns % unit_ns) % unit_ns;
    to_ns -= to_ns % unit_ns;
    to_ns = to_ns < from_ns ? from_ns : to_ns;
    r->part = (struct as_edit_part){.from_ns = from_ns, .to_ns = to_ns};
    r->trace.end_ns = r->end_ns;
    if (cut->keeps_times)
        return 0;
    int64_t first_ns = from_ns, last_ns = to_ns;
    if (cut->keeps_whole_states) {
        struct measure_stage m;
        AS_TRY(measure_times(r, true, &m, err));
        first_ns = m.first_ns < first_ns ? m.first_ns : first_ns;
        last_ns = m.last_ns > last_ns ? m.last_ns : last_ns;
    }
    r->part.offset_ns = first_ns;
    r->trace.end_ns = last_ns - first_ns;
    return 0;
}

/* ---- The head -------------------------------------------------------------------------------- */

/* The first line, with another time of the end. */
static void write_first_line(struct edit_running *r, struct as_view line)
{
    const char *paren = line.n ? memchr(line.p, ')', line.n) : NULL;
    size_t n = paren ? (size_t)(paren - line.p) + 2 : line.n; /* behind "):" */
    n = n < line.n ? n : line.n;
    as_out_write(r->out, line.p, n);
    as_out_i64(r->out, r->trace.end_ns / r->header->unit_ns);
    while (n < line.n && line.p[n] >= '0' && line.p[n] <= '9')
        n++;
    as_out_write(r->out, line.p + n, line.n - n);
    as_out_c(r->out, '\n');
}

static bool is_of_head(struct as_view line)
{
    return line.n == 0 || *line.p == 'c' || *line.p == 'i' || *line.p == '#';
}

static int write_head(struct edit_running *r, struct as_error *err)
{
    const struct as_edit_part *part = &r->part;
    const int64_t unit_ns = r->header->unit_ns;
    struct as_lines *lines = NULL;
    struct as_view line = {0};
    int rc = as_lines_open(r->path, &lines, err);
    if (rc == 0)
        rc = as_lines_next(lines, &line, err);
    if (rc > 0 && as_view_starts(line, "new format")) {
        as_out_z(r->out, "new format\n");
        rc = as_lines_next(lines, &line, err);
    }
    if (rc > 0)
        write_first_line(r, line);
    while (rc > 0 && (rc = as_lines_next(lines, &line, err)) > 0 && is_of_head(line)) {
        as_out_view(r->out, line);
        as_out_c(r->out, '\n');
    }
    as_lines_close(&lines);
    if (rc >= 0 && r->edit->cut.is_on)
        as_out_f(r->out, "#%s:CUTTER:ORIGINAL:\"%s\":%lld:%lld:%lld\n", r->date, r->path,
                 (long long)(part->offset_ns / unit_ns), (long long)(part->from_ns / unit_ns),
                 (long long)(part->to_ns / unit_ns));
    return rc < 0 ? rc : 0;
}

/* ---- All ------------------------------------------------------------------------------------- */

static int list_tasks_of_threads(struct edit_running *r)
{
    const struct as_prv_header *h = r->header;
    r->task = as_calloc(h->threads_n ? h->threads_n : 1, sizeof *r->task);
    for (size_t t = 0; r->task && t < h->task.n; t++)
        for (uint32_t i = 0; i < h->task.at[t].threads_n; i++)
            r->task[h->task.at[t].first_thread + i] = (uint32_t)t;
    return r->task ? 0 : AS_ERR_NOMEM;
}

static int write_all(struct edit_running *r, struct as_error *err)
{
    struct write_stage last = {.stage = {.on_line = write_line}, .run = r};
    struct edit_chain chain = {0};
    AS_TRY(write_head(r, err));
    int rc = add_cut(r, &chain, err);
    if (rc == 0)
        rc = add_others(r, &chain, err);
    if (rc < 0) {
        free_chain(&chain);
        return rc;
    }
    add_stage(&chain, &last.stage);
    r->counts->written_n = 0;
    return run_chain(r, &chain, err);
}

static int run_edit(struct edit_running *r, struct as_error *err)
{
    AS_TRY(as_prv_file_open(r->path, &r->file, err));
    r->header = as_prv_file_header(r->file);
    r->end_ns = r->header->end_ns;
    r->trace = (struct as_edit_trace){.header = r->header, .labels = &r->labels};
    AS_TRY(as_prv_pcf_read(r->path, &r->labels, err));
    if (list_tasks_of_threads(r) < 0)
        return as_error_nomem(err, r->path);
    AS_TRY(as_edit_shifts(r->edit, r->header, &r->shift_ns, err));
    if (r->shift_ns)
        AS_TRY(measure_shift(r, err));
    r->trace.end_ns = r->end_ns;
    if (r->edit->cut.is_on)
        AS_TRY(place_part(r, err));
    return write_all(r, err);
}

int as_edit_run(const struct as_edit *edit, const char *path, const char *date, struct as_out *out,
                struct as_edit_counts *counts, struct as_error *err)
{
    struct edit_running r = {
        .edit = edit, .path = path, .date = date, .out = out, .counts = counts};
    *counts = (struct as_edit_counts){0};
    const int rc = run_edit(&r, err);
    as_prv_file_close(&r.file);
    as_prv_pcf_fini(&r.labels);
    as_free(r.shift_ns);
    as_free(r.task);
    return rc;
}
