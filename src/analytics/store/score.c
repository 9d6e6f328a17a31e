/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/store/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/index.h"
#include "trace/write.h"

#define WORD(name, word) word,
static const char *const type_words[AS_SCORE_TYPES_N] = {AS_SCORE_TYPES(WORD)};
#undef WORD

const char *as_score_type_word(enum as_score_type type)
{
    return (unsigned)type < AS_SCORE_TYPES_N ? type_words[type] : "?";
}

struct score_frame {
    uint32_t row;
    int64_t name;
    int64_t enter_ns, inner_ns, inside_ns;
    struct as_score_amount amount;
    bool found; /* it said something of a message or request */
};

struct scoring {
    const struct as_trace_filter *filter;
    struct as_score *out;
    struct as_index rows;
    uint32_t *row_of; /* by number of name, of the process at hand */
    size_t row_of_n;
    AS_VEC(struct score_frame) frame; /* of the thread at hand */
    struct {
        uint64_t all_b, size_b; /* of the thread at hand, by row; the latter by calls that stay */
        uint64_t records_n;
    } * here;
    size_t here_n;
};

/* ---- Rows ------------------------------------------------------------------------------------ */

static enum as_score_type type_of(const struct as_trace_name *name)
{
    if (as_trace_is_mpi(name->group))
        return AS_SCORE_MPI;
    switch (name->group) {
    case AS_TRACE_OF_OPENMP:
        return AS_SCORE_OMP;
    case AS_TRACE_OF_LOCK:
        return strncmp(name->text, "omp", 3) == 0 ? AS_SCORE_OMP : AS_SCORE_PTHREAD;
    case AS_TRACE_OF_THREAD:
    case AS_TRACE_OF_SLEEP:
        return AS_SCORE_PTHREAD;
    case AS_TRACE_OF_FILES:
    case AS_TRACE_OF_PROCESS:
        return AS_SCORE_IO;
    case AS_TRACE_OF_MEMORY:
        return AS_SCORE_MEMORY;
    case AS_TRACE_OF_USER:
        return AS_SCORE_USR;
    default:
        return AS_SCORE_OTHER;
    }
}

/* Returns whether records outside of calls have a name that a filter can leave out
 * (agent/wrap/openmp/omp.h). */
static bool is_named(const char *text)
{
    return strcmp(text, "omp work") == 0 || strcmp(text, "omp barrier") == 0 ||
           strcmp(text, "omp task") == 0;
}

static int find_row(struct scoring *s, const char *text, enum as_score_type type, bool is_call,
                    uint32_t *out)
{
    /* A region of the name of a routine is another. */
    const uint64_t hash = as_hash_text(type == AS_SCORE_USR, text);
    for (struct as_probe probe = as_index_probe(&s->rows, hash);
         (*out = as_index_next(&s->rows, &probe)) != AS_INDEX_NONE;) {
        const struct as_score_row *row = &s->out->row.at[*out];
        const bool same = row->type == type || (type == AS_SCORE_USR && row->type == AS_SCORE_COM);
        if (same && row->is_call == is_call && strcmp(row->routine, text) == 0)
            return 0;
    }
    struct as_score_row row = {.routine = text, .type = type, .is_call = is_call};
    if ((is_call || is_named(text)) && s->filter)
        row.verdict = as_filter_verdict_of(as_str_z(&s->filter->rules), s->filter->rules.n, text);
    AS_TRY(as_vec_push(&s->out->row, row));
    *out = (uint32_t)(s->out->row.n - 1);
    return as_index_add(&s->rows, hash, *out);
}

static int number_rows(struct scoring *s, const struct as_trace_process *process)
{
    as_free(s->row_of);
    s->row_of = as_calloc(process->name.n + 1, sizeof *s->row_of);
    s->row_of_n = s->row_of ? process->name.n : 0;
    return s->row_of ? 0 : AS_ERR_NOMEM;
}

/* Rows get numbers when their names are used: those of a process that does nothing are none. */
static int row_of_name(struct scoring *s, const struct as_trace_process *process, int64_t number,
                       uint32_t *out)
{
    const struct as_trace_name name = as_trace_name_of(process, number);
    const bool known = number >= 0 && (uint64_t)number < s->row_of_n;
    if (known && s->row_of[number]) {
        *out = s->row_of[number] - 1;
        return 0;
    }
    AS_TRY(find_row(s, name.text, type_of(&name), true, out));
    if (known)
        s->row_of[number] = *out + 1;
    return 0;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void add_amount(struct as_score_amount *to, const struct as_score_amount *it)
{
    to->calls_n += it->calls_n;
    to->records_n += it->records_n;
    to->size_b += it->size_b;
    to->time_ns += it->time_ns;
}

static int reserve_here(struct scoring *s)
{
    if (s->here_n > s->out->row.n)
        return 0;
    const size_t n = 2 * s->out->row.n + 64;
    void *more = as_realloc(s->here, n, sizeof *s->here);
    if (!more)
        return AS_ERR_NOMEM;
    s->here = more;
    memset(s->here + s->here_n, 0, (n - s->here_n) * sizeof *s->here);
    s->here_n = n;
    return 0;
}

/* Adds the amount of a call, or of a record outside of calls, to its row. `found`: a filter that
 * keeps only successful calls keeps this one. */
static int add_to_row(struct scoring *s, uint32_t number, const struct as_score_amount *amount,
                      bool found)
{
    struct as_score_row *row = &s->out->row.at[number];
    AS_TRY(reserve_here(s));
    add_amount(&row->all, amount);
    if (!found)
        add_amount(&row->missed, amount);
    s->here[number].all_b += amount->size_b;
    if (row->verdict == AS_FILTER_LEFT_OUT || (row->verdict == AS_FILTER_FOUND && !found))
        return 0;
    s->here[number].size_b += amount->size_b;
    s->here[number].records_n += amount->records_n;
    return 0;
}

static int enter_frame(struct scoring *s, const struct as_trace_process *process,
                       const struct as_trace_event *event)
{
    struct score_frame frame = {.name = event->name, .enter_ns = event->raw_ns};
    frame.amount = (struct as_score_amount){1, 1, event->size_b, 0};
    AS_TRY(row_of_name(s, process, event->name, &frame.row));
    const enum as_score_type type = s->out->row.at[frame.row].type;
    for (size_t i = s->frame.n; type != AS_SCORE_USR && type != AS_SCORE_COM && i > 0; i--) {
        struct as_score_row *row = &s->out->row.at[s->frame.at[i - 1].row];
        if (row->type == AS_SCORE_USR)
            row->type = AS_SCORE_COM;
    }
    return as_vec_push(&s->frame, frame);
}

static int end_frame(struct scoring *s, int64_t ns)
{
    struct score_frame frame = s->frame.at[--s->frame.n];
    const int64_t whole_ns = frame.inside_ns ? frame.inside_ns : ns - frame.enter_ns;
    struct as_score_row *row = &s->out->row.at[frame.row];
    bool is_inner = false;
    for (size_t i = 0; i < s->frame.n && !is_inner; i++)
        is_inner = s->frame.at[i].row == frame.row;
    row->whole_ns += is_inner ? 0 : whole_ns;
    frame.amount.time_ns = whole_ns > frame.inner_ns ? whole_ns - frame.inner_ns : 0;
    if (s->frame.n)
        s->frame.at[s->frame.n - 1].inner_ns += whole_ns;
    return add_to_row(s, frame.row, &frame.amount, frame.found);
}

/* Frames above it were left by other ways. A leave alone is of a call that began before. */
static int leave_frames(struct scoring *s, const struct as_trace_process *process,
                        const struct as_trace_event *event)
{
    size_t at = s->frame.n;
    while (at > 0 && s->frame.at[at - 1].name != event->name)
        at--;
    if (at == 0) {
        const struct as_score_amount amount = {0, 1, event->size_b, 0};
        uint32_t row;
        AS_TRY(row_of_name(s, process, event->name, &row));
        return add_to_row(s, row, &amount, true);
    }
    s->frame.at[at - 1].amount.size_b += event->size_b;
    s->frame.at[at - 1].amount.records_n++;
    while (s->frame.n >= at)
        AS_TRY(end_frame(s, event->raw_ns));
    return 0;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Returns the row name of a record outside of calls; NULL: the record belongs to the current
 * call. */
static const char *row_of_kind(const struct as_trace_event *event, enum as_score_type *type,
                               bool *begins)
{
    *type = AS_SCORE_OMP;
    *begins = true;
    switch (event->kind) {
    case AS_TRACE_PARALLEL_END:
        *begins = false;
        return "omp parallel";
    case AS_TRACE_PARALLEL:
        return "omp parallel";
    case AS_TRACE_IMPLICIT_END:
        *begins = false;
        return "omp implicit task";
    case AS_TRACE_IMPLICIT:
        return "omp implicit task";
    case AS_TRACE_BARRIER_END:
        *begins = false;
        return event->lock.kind == AS_TRACE_POSIX ? NULL : "omp barrier";
    case AS_TRACE_BARRIER:
        return event->lock.kind == AS_TRACE_POSIX ? NULL : "omp barrier";
    case AS_TRACE_WORK_END:
        *begins = false;
        return "omp work";
    case AS_TRACE_WORK:
        return "omp work";
    case AS_TRACE_TASK_BEGIN:
    case AS_TRACE_TASK_END:
        *begins = false;
        return "omp task";
    case AS_TRACE_TASK_CREATE:
        return "omp task";
    case AS_TRACE_THREAD_CREATE:
    case AS_TRACE_THREAD_BEGIN:
    case AS_TRACE_THREAD_END:
        *type = AS_SCORE_PTHREAD;
        *begins = event->kind == AS_TRACE_THREAD_BEGIN;
        return "threads begin and end";
    default:
        return NULL;
    }
}

static bool says_it_found(unsigned kind)
{
    switch (kind) {
    case AS_TRACE_CALLERS:
    case AS_TRACE_REPEATED:
        return false;
    default:
        return true;
    }
}

static int add_other(struct scoring *s, const struct as_trace_event *event)
{
    enum as_score_type type;
    bool begins;
    uint32_t row;
    const char *name = row_of_kind(event, &type, &begins);
    struct score_frame *frame = s->frame.n ? &s->frame.at[s->frame.n - 1] : NULL;
    struct as_score_amount amount = {begins, 1, event->size_b, 0};
    if (!name && frame) {
        frame->amount.size_b += event->size_b;
        frame->amount.records_n++;
        frame->found |= says_it_found(event->kind);
        if (event->kind == AS_TRACE_REPEATED && event->repeated.calls > 0) {
            frame->amount.calls_n = (uint64_t)event->repeated.calls;
            frame->inside_ns = event->repeated.inside_ns;
        }
        return 0;
    }
    if (!name) {
        type = AS_SCORE_OTHER;
        amount.calls_n = 1;
        name = as_trace_kind_name(event->kind);
    }
    AS_TRY(find_row(s, name, type, false, &row));
    return add_to_row(s, row, &amount, true);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static uint64_t file_b(uint64_t size_b)
{
    const uint64_t room_b = AS_TRACE_BLOCK_B - sizeof(struct as_trace_block) - AS_TRACE_SLACK_B;
    const uint64_t blocks = size_b > room_b ? (size_b + room_b - 1) / room_b : 1;
    return AS_TRACE_PAGE_B + blocks * AS_TRACE_BLOCK_B;
}

static void add_thread(struct as_score_total *total, uint64_t size_b, uint64_t records_n,
                       int64_t span_ns, double record_ns, uint64_t *of_process)
{
    total->size_b += size_b;
    total->records_n += records_n;
    total->disk_b += file_b(size_b);
    *of_process += size_b;
    if (size_b > total->thread_most_b)
        total->thread_most_b = size_b;
    if (records_n > total->most_in_thread_n)
        total->most_in_thread_n = records_n;
    const double slower = span_ns > 0 ? (double)records_n * record_ns / (double)span_ns : 0;
    if (slower > total->slower)
        total->slower = slower;
}

struct score_span {
    int64_t first_ns, last_ns, end_ns;
};

static int read_thread(struct scoring *s, const struct as_trace_process *process,
                       struct as_trace_stream *stream, struct score_span *span,
                       struct as_error *err)
{
    struct as_trace_event event;
    int64_t latest_ns = span->first_ns;
    int rc;
    AS_TRY(as_trace_stream_seek(stream, INT64_MIN, err));
    s->frame.n = 0;
    while ((rc = as_trace_stream_next(stream, &event, err)) > 0) {
        if (event.raw_ns < span->first_ns)
            span->first_ns = event.raw_ns;
        latest_ns = event.raw_ns;
        if (event.kind == AS_TRACE_ENTER)
            rc = enter_frame(s, process, &event);
        else if (event.kind == AS_TRACE_LEAVE)
            rc = leave_frames(s, process, &event);
        else
            rc = add_other(s, &event);
        if (rc < 0)
            return as_error_nomem(err, "the score of a trace");
    }
    while (s->frame.n && rc == 0)
        if (end_frame(s, latest_ns) < 0)
            return as_error_nomem(err, "the score of a trace");
    if (latest_ns > span->last_ns && latest_ns < INT64_MAX)
        span->last_ns = latest_ns;
    return rc;
}

struct score_process {
    uint64_t whole_b, filtered_b;
};

static int score_thread(struct scoring *s, const struct as_trace_process *process,
                        struct as_trace_stream *stream, struct score_span *all,
                        struct score_process *of, struct as_error *err)
{
    struct as_score *out = s->out;
    struct score_span own = {INT64_MAX, INT64_MIN, 0};
    uint64_t whole_b = 0, whole_n = 0, size_b = 0, records_n = 0, before_n = 0;
    if (s->here)
        memset(s->here, 0, s->here_n * sizeof *s->here);
    as_vec_foreach (&out->row, row)
        before_n += row->all.records_n;
    AS_TRY(read_thread(s, process, stream, &own, err));
    for (size_t i = 0; i < out->row.n; i++) {
        struct as_score_row *row = &out->row.at[i];
        whole_n += row->all.records_n;
        if (i >= s->here_n)
            continue;
        whole_b += s->here[i].all_b;
        size_b += s->here[i].size_b;
        records_n += s->here[i].records_n;
        if (s->here[i].all_b > row->most_b)
            row->most_b = s->here[i].all_b;
    }
    const struct as_trace_stream_facts *facts = as_trace_stream_facts(stream);
    const int64_t span_ns = own.last_ns > own.first_ns ? own.last_ns - own.first_ns : 0;
    add_thread(&out->whole, whole_b, whole_n - before_n, span_ns, out->record_ns, &of->whole_b);
    add_thread(&out->filtered, size_b, records_n, span_ns, out->record_ns, &of->filtered_b);
    out->is_ring |= facts->is_ring;
    out->threads_n++;
    all->first_ns = own.first_ns < all->first_ns ? own.first_ns : all->first_ns;
    all->last_ns = own.last_ns > all->last_ns ? own.last_ns : all->last_ns;
    all->end_ns = facts->end_raw_ns > all->end_ns ? facts->end_raw_ns : all->end_ns;
    return 0;
}

static int score_process(struct scoring *s, const struct as_trace_process *process,
                         struct score_span *span, struct as_error *err)
{
    struct as_score *out = s->out;
    struct score_process of = {0};
    if (number_rows(s, process) < 0)
        return as_error_nomem(err, "the score of a trace");
    as_vec_foreach (&process->thread, stream)
        AS_TRY(score_thread(s, process, *stream, span, &of, err));
    if (process->definitions) {
        const uint64_t size_b = as_trace_stream_facts(process->definitions)->size_b;
        out->whole.disk_b += size_b;
        out->filtered.disk_b += size_b;
    }
    if (of.whole_b > out->whole.process_most_b)
        out->whole.process_most_b = of.whole_b;
    if (of.filtered_b > out->filtered.process_most_b)
        out->filtered.process_most_b = of.filtered_b;
    out->processes_n++;
    return 0;
}

/* ---- All ------------------------------------------------------------------------------------- */

static int compare_score_rows(const void *a, const void *b)
{
    const struct as_score_row *x = a, *y = b;
    if (x->all.size_b != y->all.size_b)
        return x->all.size_b > y->all.size_b ? -1 : 1;
    return strcmp(x->routine, y->routine);
}

int as_score_trace(const struct as_trace *trace, const struct as_trace_filter *filter,
                   double record_ns, struct as_score *out, struct as_error *err)
{
    struct scoring s = {.filter = filter, .out = out};
    struct score_span span = {INT64_MAX, INT64_MIN, INT64_MIN};
    int rc = 0;
    *out = (struct as_score){.record_ns = record_ns};
    for (size_t i = 0; i < trace->process.n && rc == 0; i++)
        rc = score_process(&s, &trace->process.at[i], &span, err);
    if (out->row.n)
        qsort(out->row.at, out->row.n, sizeof *out->row.at, compare_score_rows);
    as_vec_foreach (&out->row, row) {
        add_amount(&out->type[row->type], &row->all);
        add_amount(&out->all, &row->all);
    }
    if (span.last_ns > span.first_ns)
        out->recorded_ns = span.last_ns - span.first_ns;
    out->lasted_ns = span.end_ns - span.first_ns > out->recorded_ns && out->recorded_ns
                         ? span.end_ns - span.first_ns
                         : out->recorded_ns;
    as_index_fini(&s.rows);
    as_vec_fini(&s.frame);
    as_free(s.row_of);
    as_free(s.here);
    return rc;
}

void as_score_fini(struct as_score *score)
{
    as_vec_fini(&score->row);
}

static bool may_go_alone(enum as_filter_class class)
{
    return class == AS_FILTERED_FREE || class == AS_FILTERED_REQUEST ||
           class == AS_FILTERED_TRANSFER || class == AS_FILTERED_MEMORY;
}

bool as_score_is_worth(const struct as_score *score, const struct as_score_row *row)
{
    const enum as_filter_class class = as_filter_class_of(row->routine);
    const bool is_test = class == AS_FILTERED_TEST;
    const struct as_score_amount *amount = is_test ? &row->missed : &row->all;
    const int64_t whole_ns = is_test ? amount->time_ns : row->whole_ns;
    return row->is_call && (is_test || may_go_alone(class)) && amount->calls_n &&
           (double)amount->size_b >= AS_SCORE_LEAST_SHARE * (double)score->all.size_b &&
           whole_ns < AS_SCORE_SHORT_NS * (int64_t)amount->calls_n;
}
