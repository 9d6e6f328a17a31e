/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/evaluated.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "exchange/ordered.h"

#define OBJECTS_MAX ((uint64_t)1 << 22)
#define STOP_LINES  65536u /* lines between two checks for a stop */

/* ---- Objects --------------------------------------------------------------------------------- */

static int list_threads_of(struct as_machine_objects *objects, const struct as_prv_header *h)
{
    uint32_t application = UINT32_MAX;
    AS_TRY(as_objects_add(objects, AS_OBJECT_LEVEL_WORKLOAD));
    as_vec_foreach (&h->task, task) {
        if (task->application != application)
            AS_TRY(as_objects_add(objects, AS_OBJECT_LEVEL_APPLICATION));
        application = task->application;
        AS_TRY(as_objects_add(objects, AS_OBJECT_LEVEL_TASK));
        AS_TRY(as_vec_push(&objects->node_of_task, task->node));
        for (uint32_t i = 0; i < task->threads_n; i++)
            AS_TRY(as_objects_add(objects, AS_OBJECT_LEVEL_THREAD));
    }
    return 0;
}

static int list_cpus(struct as_machine_objects *objects, const struct as_prv_header *h)
{
    uint64_t cpus_n = 0;
    AS_TRY(as_objects_add(objects, AS_OBJECT_LEVEL_SYSTEM));
    as_vec_foreach (&h->cpus_n, n) {
        AS_TRY(as_objects_add(objects, AS_OBJECT_LEVEL_NODE));
        cpus_n += *n;
        for (uint32_t i = 0; i < *n && cpus_n <= OBJECTS_MAX; i++)
            AS_TRY(as_objects_add(objects, AS_OBJECT_LEVEL_CPU));
    }
    return cpus_n > OBJECTS_MAX ? AS_ERR_LIMIT : 0;
}

int as_evaluated_open(const char *path, struct as_evaluated *out, struct as_error *err)
{
    struct as_prv_file *file = NULL;
    *out = (struct as_evaluated){0};
    AS_TRY(as_prv_file_open(path, &file, err));
    const struct as_prv_header *h = as_prv_file_header(file);
    out->end_ns = h->end_ns;
    out->path = as_malloc(strlen(path) + 1);
    int rc = out->path ? list_threads_of(&out->objects, h) : AS_ERR_NOMEM;
    if (rc == 0)
        rc = list_cpus(&out->objects, h);
    if (rc == 0)
        memcpy(out->path, path, strlen(path) + 1);
    if (rc == AS_ERR_NOMEM)
        as_error_nomem(err, path);
    if (rc == AS_ERR_LIMIT)
        as_error_set(err, rc, "%s: its header has more than %llu CPUs; correct the header", path,
                     (unsigned long long)OBJECTS_MAX);
    if (rc == 0)
        rc = as_prv_pcf_read(path, &out->labels, err);
    as_prv_file_close(&file);
    if (rc < 0)
        as_evaluated_close(out);
    return rc;
}

void as_evaluated_close(struct as_evaluated *e)
{
    as_free(e->path);
    as_objects_fini(&e->objects);
    as_prv_pcf_fini(&e->labels);
    *e = (struct as_evaluated){0};
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* State of one reading of the file. */
struct evaluated_reading {
    struct as_evaluated *evaluated;
    struct as_evaluator *evaluation;
    struct as_error *err;
    unsigned kinds;
    uint64_t number;
    int64_t latest_ns; /* time of the last line in order */
    int64_t end_ns;
    bool was_late;                        /* a line was earlier than one before */
    struct as_ordered_store *strays;      /* late lines; NULL: none is expected */
    const struct as_semantic_line *stray; /* next late line */
    bool is_finding;                      /* this reading finds late lines and delivers nothing */
};

static int64_t earlier_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t later_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static const unsigned kinds_of_lines[] = {[AS_LINE_STATE] = AS_KINDS_STATE,
                                          [AS_LINE_EVENT] = AS_KINDS_EVENT,
                                          [AS_LINE_MESSAGE] = AS_KINDS_MESSAGE};
_Static_assert(sizeof kinds_of_lines / sizeof *kinds_of_lines == AS_LINE_MESSAGE + 1,
               "an entry for each of the enumeration");

/* Returns true if the evaluation, or the function for all lines, needs lines of this kind. */
static bool takes_line(const struct evaluated_reading *r, enum as_line_kind kind)
{
    return r->evaluated->on_line || r->kinds & kinds_of_lines[kind];
}

static int hand_out_line(struct evaluated_reading *r, const struct as_semantic_line *line)
{
    const struct as_evaluated *e = r->evaluated;
    if (e->on_line)
        AS_TRY(e->on_line(e->on_line_context, line));
    return r->kinds & kinds_of_lines[line->kind] ? as_evaluator_add_line(r->evaluation, line) : 0;
}

static int next_stray(struct evaluated_reading *r)
{
    const void *record;
    AS_TRY(as_ordered_next(r->strays, &record, r->err));
    r->stray = record;
    return 0;
}

/* Delivers the late lines up to a time. */
static int deliver_strays(struct evaluated_reading *r, int64_t ns)
{
    while (r->stray && r->stray->ns <= ns) {
        AS_TRY(hand_out_line(r, r->stray));
        AS_TRY(next_stray(r));
    }
    return 0;
}

static int deliver_line(struct evaluated_reading *r, const struct as_semantic_line *line)
{
    if (!takes_line(r, line->kind))
        return 0;
    if (line->ns < r->latest_ns) {
        r->was_late = true;
        return r->is_finding ? as_ordered_add(r->strays, line, r->err) : 0;
    }
    r->latest_ns = line->ns;
    if (r->is_finding)
        return 0;
    if (r->strays)
        AS_TRY(deliver_strays(r, line->ns));
    return hand_out_line(r, line);
}

static int deliver_message(struct evaluated_reading *r, const struct as_prv_line_read *line)
{
    const struct as_semantic_line message = {
        .ns = earlier_of(earlier_of(line->ns, line->physical_send_ns),
                         earlier_of(line->logical_receive_ns, line->physical_receive_ns)),
        .number = r->number,
        .kind = AS_LINE_MESSAGE,
        .message = {.sender = line->thread,
                    .receiver = line->receiver,
                    .sender_cpu = line->cpu,
                    .receiver_cpu = line->receiver_cpu,
                    .logical_send_ns = line->ns,
                    .physical_send_ns = line->physical_send_ns,
                    .logical_receive_ns = line->logical_receive_ns,
                    .physical_receive_ns = line->physical_receive_ns,
                    .size_b = line->size_b,
                    .tag = line->tag}};
    r->end_ns = later_of(r->end_ns,
                         later_of(line->physical_send_ns,
                                  later_of(line->logical_receive_ns, line->physical_receive_ns)));
    return deliver_line(r, &message);
}

/* Returns true if only the evaluation gets lines, and lines are in order. */
static bool gives_needed_events(const struct evaluated_reading *r)
{
    return !r->evaluated->on_line && !r->strays && r->kinds & AS_KINDS_EVENT;
}

/* Delivers the events that the pass needs. `*one` has all fields except the number and the
 * event. */
static int give_needed_events(struct evaluated_reading *r, const struct as_prv_line_read *line,
                              struct as_semantic_line *one)
{
    r->was_late |= one->ns < r->latest_ns;
    if (r->was_late)
        return 0;
    r->latest_ns = one->ns;
    for (size_t i = 0; i + 1 < line->value.n; i += 2) {
        one->number = r->number++;
        one->event.type = line->value.at[i];
        one->event.value = line->value.at[i + 1];
        if (as_evaluator_takes_event(r->evaluation, one->event.type, one->event.value))
            AS_TRY(as_evaluator_add_line(r->evaluation, one));
    }
    return 0;
}

static int deliver_prv_line(struct evaluated_reading *r, const struct as_prv_line_read *line)
{
    struct as_semantic_line one = {.ns = line->ns,
                                   .number = ++r->number,
                                   .kind = AS_LINE_STATE,
                                   .thread = line->thread,
                                   .cpu = line->cpu};
    r->end_ns = later_of(r->end_ns, line->ns);
    if (line->kind == AS_PRV_LINE_MESSAGE)
        return deliver_message(r, line);
    if (line->kind == AS_PRV_LINE_STATE) {
        r->end_ns = later_of(r->end_ns, line->end_ns);
        one.state.value = line->state;
        one.state.end_ns = line->end_ns;
        return deliver_line(r, &one);
    }
    one.kind = AS_LINE_EVENT;
    if (gives_needed_events(r))
        return give_needed_events(r, line, &one);
    for (size_t i = 0; i + 1 < line->value.n; i += 2) {
        one.number = r->number++;
        one.event.type = line->value.at[i];
        one.event.value = line->value.at[i + 1];
        AS_TRY(deliver_line(r, &one));
    }
    return 0;
}

/* Reads and delivers all lines. Stops at the first late line if none was expected. */
static int read_all_lines(struct evaluated_reading *r)
{
    struct as_prv_file *file = NULL;
    const struct as_prv_line_read *line;
    struct as_stream_digest *digest = r->evaluated->digest;
    if (digest)
        as_stream_digest_init(digest);
    AS_TRY(as_prv_file_open_digested(r->evaluated->path, digest, &file, r->err));
    r->end_ns = as_prv_file_header(file)->end_ns;
    int rc = 0, more = 1;
    for (uint32_t n = 1; rc == 0 && !(r->was_late && !r->strays) &&
                         (more = as_prv_file_next(file, &line, r->err)) > 0;
         n++) {
        rc = deliver_prv_line(r, line);
        if (rc == 0 && n % STOP_LINES == 0 && r->evaluated->is_stopped &&
            r->evaluated->is_stopped())
            rc = as_error_set(r->err, AS_ERR_LIMIT,
                              "the evaluation: stopped by a signal; run it again");
    }
    r->evaluated->bad = as_prv_file_bad(file);
    as_prv_file_close(&file);
    if (rc == 0 && more < 0)
        rc = more;
    if (rc == 0 && r->stray)
        rc = deliver_strays(r, INT64_MAX);
    return rc;
}

static int find_strays(struct as_evaluated *e, const struct evaluated_reading *of,
                       struct as_ordered_store **out, struct as_error *err)
{
    struct evaluated_reading r = {
        .evaluated = e, .err = err, .kinds = of->kinds, .is_finding = true};
    if (as_ordered_new(out, sizeof(struct as_semantic_line)) < 0)
        return as_error_nomem(err, e->path);
    r.strays = *out;
    int rc = read_all_lines(&r);
    if (rc == 0)
        rc = as_ordered_begin(*out, err);
    return rc;
}

static int run_pass(struct as_evaluated *e, struct as_evaluator *evaluation, struct as_error *err)
{
    struct evaluated_reading r = {.evaluated = e,
                                  .evaluation = evaluation,
                                  .err = err,
                                  .kinds = as_evaluator_kinds(evaluation)};
    struct as_ordered_store *strays = NULL;
    int rc = 0;
    if (!e->is_disordered) {
        rc = read_all_lines(&r);
        if (rc < 0 || !r.was_late)
            return rc < 0 ? rc : as_evaluator_end_pass(evaluation, r.end_ns, err);
        e->is_disordered = true;
        rc = as_evaluator_restart_pass(evaluation, err);
    }
    if (rc == 0)
        rc = find_strays(e, &r, &strays, err);
    r.number = 0;
    r.latest_ns = 0;
    r.was_late = false;
    r.strays = strays;
    if (rc == 0)
        rc = next_stray(&r);
    if (rc == 0)
        rc = read_all_lines(&r);
    if (rc == 0)
        rc = as_evaluator_end_pass(evaluation, r.end_ns, err);
    as_ordered_free(&strays);
    return rc;
}

int as_evaluated_run_pass(struct as_evaluated *e, struct as_evaluator *evaluation,
                          struct as_error *err)
{
    const int rc = run_pass(e, evaluation, err);
    return rc == AS_ERR_NOMEM ? as_error_nomem(err, e->path) : rc;
}

int as_evaluated_run(struct as_evaluated *e, struct as_evaluator *evaluation, struct as_error *err)
{
    for (;;) {
        bool is_needed;
        AS_TRY(as_evaluator_begin_pass(evaluation, &is_needed, err));
        if (!is_needed)
            return 0;
        AS_TRY(as_evaluated_run_pass(e, evaluation, err));
    }
}

/* ---- Labels ---------------------------------------------------------------------------------- */

void as_evaluated_object(const struct as_evaluated *e, enum as_object_level level, uint32_t object,
                         struct as_str *out)
{
    as_vec_foreach (&e->labels.row, row)
        if (row->at == object && strcasecmp(row->level, as_object_level_word(level)) == 0) {
            as_str_appendz(out, row->label);
            return;
        }
    as_objects_name(&e->objects, level, object, out);
}

/* Returns the label of a value among the event types that the filter of a window selects. */
static const char *event_label(const struct as_evaluated *e, const struct as_window *w,
                               int64_t value)
{
    const struct as_filter_part *types = &w->filter[AS_FILTER_TYPE];
    const char *found = NULL;
    for (size_t i = 0; !found && types->test == AS_TEST_EQUAL && i < types->value.n; i++)
        if (!types->value.at[i].is_real)
            found = as_prv_pcf_label(&e->labels, types->value.at[i].whole, value);
    return found;
}

const char *as_evaluated_label(const struct as_evaluated *e, const struct as_window *w,
                               struct as_quantity value)
{
    const struct as_semantic_function *meaning = as_window_meaning(w);
    if (!meaning || value.is_real)
        return NULL;
    if (strcmp(meaning->name, "State As Is") == 0 || strcmp(meaning->name, "Given State") == 0)
        return as_prv_pcf_state(&e->labels, value.whole);
    if (strcmp(meaning->name, "Last Evt Type") == 0 ||
        strcmp(meaning->name, "Next Evt Type") == 0) {
        const struct as_prv_pcf_type *type = as_prv_pcf_type_of(&e->labels, value.whole);
        return type ? type->label : NULL;
    }
    if (meaning->kinds == AS_KINDS_EVENT && meaning->ahead != AS_AHEAD_BYTES &&
        strstr(meaning->name, "Evt Val") && !strstr(meaning->name, "In Evt") &&
        !strstr(meaning->name, "Avg"))
        return event_label(e, w, value.whole);
    return NULL;
}
