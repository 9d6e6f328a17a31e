/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of the time, or some tasks. States across a border are broken there, unless whole ones
 * are wanted. A message stays if all of it is inside. Types that are open at the end get the value
 * 0.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/search.h"
#include "edit/edit_stage.h"

/* Types of hardware counters: their values tell of the time before. */
#define COUNTERS_FIRST INT64_C(42000000)
#define COUNTERS_END   INT64_C(50000000)

struct cut_type {
    int64_t type;
    uint64_t depth; /* values that no 0 has closed */
};

struct cut_thread {
    AS_VEC(struct cut_type) type; /* ascending */
    int64_t first_ns, last_ns;    /* events in between are kept */
    uint32_t cpu;                 /* of the latest event */
    bool is_chosen;
};

struct cut_stage {
    struct as_edit_stage stage;
    const struct as_edit_cut *cut;
    const struct as_edit_trace *trace;
    struct as_edit_part part;
    struct cut_thread *thread;
    int64_t latest_ns; /* of all kept times */
};

static bool is_counter(int64_t type)
{
    return type >= COUNTERS_FIRST && type < COUNTERS_END;
}

/* Returns the place of a type, or where to insert it. */
static size_t cut_type_place(const struct cut_thread *thread, int64_t type)
{
    const size_t at = as_first_not(i, thread->type.n, thread->type.at[i].type < type);
    assert(at + 1 >= thread->type.n || thread->type.at[at].type < thread->type.at[at + 1].type);
    return at;
}

static struct cut_type *find_cut_type(struct cut_thread *thread, int64_t type)
{
    const size_t at = cut_type_place(thread, type);
    if (at < thread->type.n && thread->type.at[at].type == type)
        return &thread->type.at[at];
    if (as_vec_push(&thread->type, (struct cut_type){0}) < 0)
        return NULL;
    for (size_t i = thread->type.n - 1; i > at; i--)
        thread->type.at[i] = thread->type.at[i - 1];
    thread->type.at[at] = (struct cut_type){.type = type};
    return &thread->type.at[at];
}

/* Returns whether a state reaches into the part. One without an end has no length here. */
static bool is_state_inside(const struct as_edit_part *part, int64_t ns, int64_t end_ns)
{
    return ns == end_ns ? ns >= part->from_ns && ns <= part->to_ns
                        : ns < part->to_ns && end_ns > part->from_ns;
}

/* Passes a line on, with its times in the part. */
static int pass_cut_line(struct cut_stage *c, struct as_prv_line_read *line, struct as_error *err)
{
    const int64_t offset_ns = c->part.offset_ns;
    line->ns -= offset_ns;
    if (line->kind == AS_PRV_LINE_STATE && line->end_ns >= 0)
        line->end_ns -= offset_ns;
    if (line->kind == AS_PRV_LINE_MESSAGE) {
        line->physical_send_ns -= offset_ns;
        line->logical_receive_ns -= offset_ns;
        line->physical_receive_ns -= offset_ns;
    }
    return as_edit_pass(&c->stage, line, err);
}

static int cut_one_state(struct cut_stage *c, struct as_prv_line_read *line, struct as_error *err)
{
    const struct as_edit_cut *cut = c->cut;
    const int64_t from_ns = c->part.from_ns, to_ns = c->part.to_ns;
    const int64_t end_ns = line->end_ns < 0 ? line->ns : line->end_ns;
    struct cut_thread *thread = &c->thread[line->thread];
    const bool is_inside = is_state_inside(&c->part, line->ns, end_ns);
    const bool is_first = line->ns<from_ns, is_last = end_ns> to_ns;
    if (!is_inside || (is_first && cut->drops_first_states) || (is_last && cut->drops_last_states))
        return 0;
    if (cut->keeps_whole_states) {
        if (is_first && line->ns < thread->first_ns)
            thread->first_ns = line->ns;
        if (is_last && line->end_ns > thread->last_ns)
            thread->last_ns = line->end_ns;
    } else {
        line->ns = is_first ? from_ns : line->ns;
        line->end_ns = is_last ? to_ns : line->end_ns;
    }
    return pass_cut_line(c, line, err);
}

/* Notes what is open, and resets the first value of a counter in the part. */
static int note_pair(struct cut_stage *c, struct cut_thread *thread, int64_t type, int64_t *value)
{
    const size_t known_n = thread->type.n;
    struct cut_type *of = find_cut_type(thread, type);
    if (!of)
        return AS_ERR_NOMEM;
    if (is_counter(type)) {
        of->depth = 1;
        if (thread->type.n > known_n && c->part.from_ns > 0)
            *value = 0;
    } else if (*value) {
        of->depth++;
    } else if (of->depth) {
        of->depth--;
    }
    return 0;
}

static int cut_events(struct cut_stage *c, struct as_prv_line_read *line, struct as_error *err)
{
    struct cut_thread *thread = &c->thread[line->thread];
    int64_t first_ns = c->part.from_ns, last_ns = c->part.to_ns;
    if (c->cut->keeps_border_events && thread->first_ns < first_ns)
        first_ns = thread->first_ns;
    if (c->cut->keeps_border_events && thread->last_ns > last_ns)
        last_ns = thread->last_ns;
    if (line->ns < first_ns || line->ns > last_ns)
        return 0;
    thread->cpu = line->cpu;
    if (line->ns > c->latest_ns)
        c->latest_ns = line->ns;
    for (size_t i = 0; i + 1 < line->value.n; i += 2)
        if (note_pair(c, thread, line->value.at[i], &line->value.at[i + 1]) < 0)
            return as_error_nomem(err, "a cut");
    return pass_cut_line(c, line, err);
}

static bool is_message_inside(const struct cut_stage *c, const struct as_prv_line_read *line)
{
    const int64_t times[] = {line->ns, line->physical_send_ns, line->logical_receive_ns,
                             line->physical_receive_ns};
    bool is_inside = c->thread[line->thread].is_chosen && c->thread[line->receiver].is_chosen;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        is_inside &= times[i] >= c->part.from_ns && times[i] <= c->part.to_ns;
    return is_inside;
}

static int cut_line(struct as_edit_stage *stage, struct as_prv_line_read *line,
                    struct as_error *err)
{
    struct cut_stage *c = (struct cut_stage *)stage;
    if (line->kind == AS_PRV_LINE_OTHER)
        return as_edit_pass(stage, line, err);
    if (line->kind == AS_PRV_LINE_MESSAGE)
        return is_message_inside(c, line) ? pass_cut_line(c, line, err) : 0;
    if (!c->thread[line->thread].is_chosen)
        return 0;
    return line->kind == AS_PRV_LINE_STATE ? cut_one_state(c, line, err) : cut_events(c, line, err);
}

/* Types without labels for their values, such as sizes, are never closed. */
static bool is_closed_by_zero(const struct cut_stage *c, int64_t type)
{
    const struct as_prv_pcf *labels = c->trace->labels;
    if (is_counter(type) || !as_prv_pcf_type_of(labels, type))
        return true;
    as_vec_foreach (&labels->value, value)
        if (value->type == type)
            return true;
    return false;
}

static int close_thread(struct cut_stage *c, uint32_t at, struct as_error *err)
{
    struct cut_thread *thread = &c->thread[at];
    struct as_prv_line_read line = {.kind = AS_PRV_LINE_EVENTS,
                                    .thread = at,
                                    .cpu = thread->cpu,
                                    .ns = c->latest_ns > c->part.to_ns ? c->latest_ns
                                                                       : c->part.to_ns};
    int rc = 0;
    as_vec_foreach (&thread->type, type)
        if (rc == 0 && type->depth && is_closed_by_zero(c, type->type)) {
            rc = as_vec_push(&line.value, type->type);
            if (rc == 0)
                rc = as_vec_push(&line.value, 0);
        }
    if (rc < 0)
        as_error_nomem(err, "a cut");
    else if (line.value.n)
        rc = pass_cut_line(c, &line, err);
    as_vec_fini(&line.value);
    return rc;
}

static int close_cut(struct as_edit_stage *stage, struct as_error *err)
{
    struct cut_stage *c = (struct cut_stage *)stage;
    for (uint32_t i = 0; i < c->trace->header->threads_n; i++)
        AS_TRY(close_thread(c, i, err));
    return 0;
}

static void free_cut(struct as_edit_stage *stage)
{
    struct cut_stage *c = (struct cut_stage *)stage;
    for (uint32_t i = 0; c->thread && i < c->trace->header->threads_n; i++)
        as_vec_fini(&c->thread[i].type);
    as_free(c->thread);
    as_free(c);
}

static bool is_task_chosen(const struct as_edit_cut *cut, const struct as_prv_header *h,
                           size_t task)
{
    const int64_t number = (int64_t)task - h->application.at[h->task.at[task].application] + 1;
    as_vec_foreach (&cut->task, range)
        if (number >= range->first && number <= range->last)
            return true;
    return cut->task.n == 0;
}

int as_edit_cut_new(const struct as_edit *edit, const struct as_edit_trace *trace,
                    const struct as_edit_part *part, struct as_edit_stage **out,
                    struct as_error *err)
{
    const struct as_prv_header *h = trace->header;
    struct cut_stage *c = as_calloc(1, sizeof *c);
    if (c)
        c->thread = as_calloc(h->threads_n ? h->threads_n : 1, sizeof *c->thread);
    if (!c || !c->thread) {
        as_free(c);
        return as_error_nomem(err, "a cut");
    }
    c->stage = (struct as_edit_stage){.on_line = cut_line, .on_end = close_cut, .fini = free_cut};
    c->cut = &edit->cut;
    c->trace = trace;
    c->part = *part;
    for (size_t t = 0; t < h->task.n; t++)
        for (uint32_t i = 0; i < h->task.at[t].threads_n; i++) {
            struct cut_thread *thread = &c->thread[h->task.at[t].first_thread + i];
            thread->is_chosen = is_task_chosen(&edit->cut, h, t);
            thread->first_ns = INT64_MAX;
            thread->last_ns = INT64_MIN;
        }
    *out = &c->stage;
    return 0;
}
