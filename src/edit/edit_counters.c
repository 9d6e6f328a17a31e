/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Software counters: the number of events, or the sum of their values, takes the place of the
 * events. They are for intervals of time or for bursts. An interval has the times after its begin
 * up to its end. Types of counters: those of Paraver's option files.
 */
#include "base/error.h"
#include "edit/edit_stage.h"

#define STATE_RUNNING    1
#define TYPE_OF_RUNNING  1 /* of the counter of running time */
#define TYPE_DIVISOR     10000
#define TYPE_OF_ALL      20000
#define TYPE_OF_EACH     10000
#define VALUES_OF_A_TYPE 1000
#define INTERVALS_MAX    INT64_C(100000000)

struct event_counter {
    int64_t type, value; /* counted events; the value only if each has a counter */
    bool is_sum;
    int64_t out_type;
    int64_t amount, written; /* now; at the last place where counters were written */
};

struct counted_thread {
    AS_VEC(struct event_counter) counter;
    int64_t burst_ns, burst_end_ns; /* the latest burst */
    int64_t running_ns, running_written_ns;
    bool is_open; /* by bursts: counters are written at burst_end_ns */
};

struct counters_stage {
    struct as_edit_stage stage;
    const struct as_edit_counters *counters;
    const struct as_edit_trace *trace;
    struct counted_thread *thread;
    int64_t interval_ns;
    int64_t border_ns;   /* end of the interval that is counted */
    int64_t begin_ns;    /* and its begin */
    int64_t next_end_ns; /* by bursts: the earliest end of an open one */
    int64_t latest_ns;
};

int64_t as_edit_counter_type(const struct as_edit_counters *counters, int64_t type, int64_t value)
{
    const uint64_t t = (uint64_t)type;
    if (!counters->is_each_value)
        return (int64_t)(t / TYPE_DIVISOR + TYPE_OF_ALL + t % TYPE_DIVISOR);
    return (int64_t)((t / TYPE_DIVISOR + t % TYPE_DIVISOR + TYPE_OF_EACH) * VALUES_OF_A_TYPE +
                     (uint64_t)value);
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Adds to a counter, which may be new. Sums wrap, as values of traces do. */
static int count_pair(struct counted_thread *thread, const struct event_counter *of, int64_t amount)
{
    as_vec_foreach (&thread->counter, one)
        if (one->type == of->type && one->is_sum == of->is_sum && one->value == of->value) {
            one->amount = (int64_t)((uint64_t)one->amount + (uint64_t)amount);
            return 0;
        }
    AS_TRY(as_vec_push(&thread->counter, *of));
    thread->counter.at[thread->counter.n - 1].amount = amount;
    return 0;
}

static int count_event(struct counters_stage *c, struct counted_thread *thread, int64_t type,
                       int64_t value)
{
    const struct as_edit_counters *k = c->counters;
    if (value == 0)
        return 0;
    const struct event_counter sum = {.type = type, .is_sum = true, .out_type = type};
    const struct event_counter count = {.type = type,
                                        .value = k->is_each_value ? value : 0,
                                        .out_type = as_edit_counter_type(k, type, value)};
    if (k->has_types && as_edit_types_have(&k->sum, type, value))
        AS_TRY(count_pair(thread, &sum, value));
    if (!k->has_types || as_edit_types_have(&k->count, type, value))
        AS_TRY(count_pair(thread, &count, 1));
    return 0;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static int add_amount(struct as_prv_line_read *line, int64_t type, int64_t amount)
{
    AS_TRY(as_vec_push(&line->value, type));
    return as_vec_push(&line->value, amount);
}

/* Counters that are not 0, or were not. */
static int list_amounts(struct counters_stage *c, struct counted_thread *thread,
                        struct as_prv_line_read *line)
{
    if (thread->running_ns || thread->running_written_ns)
        AS_TRY(add_amount(line, TYPE_OF_RUNNING, thread->running_ns / c->trace->header->unit_ns));
    thread->running_written_ns = thread->running_ns;
    thread->running_ns = 0;
    as_vec_foreach (&thread->counter, one) {
        if (one->amount || one->written)
            AS_TRY(add_amount(line, one->out_type, one->amount));
        one->written = one->amount;
        one->amount = 0;
    }
    return 0;
}

static int write_amounts(struct counters_stage *c, uint32_t at, int64_t ns, struct as_error *err)
{
    struct as_prv_line_read line = {.kind = AS_PRV_LINE_EVENTS, .thread = at, .ns = ns};
    int rc = list_amounts(c, &c->thread[at], &line);
    if (rc < 0)
        as_error_nomem(err, "counters");
    else if (line.value.n)
        rc = as_edit_pass(&c->stage, &line, err);
    as_vec_fini(&line.value);
    return rc;
}

/* ---- Intervals ------------------------------------------------------------------------------- */

/* Adds the part of the latest burst that lies between two times. */
static void add_running(struct counted_thread *thread, int64_t from_ns, int64_t to_ns)
{
    const int64_t begin_ns = thread->burst_ns > from_ns ? thread->burst_ns : from_ns;
    const int64_t end_ns = thread->burst_end_ns < to_ns ? thread->burst_end_ns : to_ns;
    if (end_ns > begin_ns)
        thread->running_ns += end_ns - begin_ns;
}

/* Ends the interval at `ns`. `*is_idle`: nothing is left to write at the next ends. */
static int end_interval(struct counters_stage *c, int64_t ns, bool *is_idle, struct as_error *err)
{
    *is_idle = true;
    for (uint32_t i = 0; i < c->trace->header->threads_n; i++) {
        struct counted_thread *thread = &c->thread[i];
        if (c->counters->sums_bursts)
            add_running(thread, c->begin_ns, ns);
        AS_TRY(write_amounts(c, i, ns, err));
        *is_idle &=
            !thread->running_written_ns && !(c->counters->sums_bursts && thread->burst_end_ns > ns);
        as_vec_foreach (&thread->counter, one)
            *is_idle &= !one->written;
    }
    c->begin_ns = ns;
    return 0;
}

/* Ends all intervals that end before `ns`. */
static int end_intervals(struct counters_stage *c, int64_t ns, struct as_error *err)
{
    while (c->border_ns < ns) {
        bool is_idle;
        AS_TRY(end_interval(c, c->border_ns, &is_idle, err));
        const int64_t skipped_n = is_idle ? (ns - 1 - c->border_ns) / c->interval_ns : 0;
        c->begin_ns += skipped_n * c->interval_ns;
        c->border_ns += (skipped_n + 1) * c->interval_ns;
    }
    return 0;
}

/* ---- Bursts ---------------------------------------------------------------------------------- */

static int end_burst(struct counters_stage *c, uint32_t at, struct as_error *err)
{
    c->thread[at].is_open = false;
    return write_amounts(c, at, c->thread[at].burst_end_ns, err);
}

/* The open burst that ends first, before `ns`; UINT32_MAX: none. */
static uint32_t find_ended_burst(struct counters_stage *c, int64_t ns)
{
    uint32_t found = UINT32_MAX;
    c->next_end_ns = INT64_MAX;
    for (uint32_t i = 0; i < c->trace->header->threads_n; i++) {
        const struct counted_thread *thread = &c->thread[i];
        if (!thread->is_open || thread->burst_end_ns >= c->next_end_ns)
            continue;
        c->next_end_ns = thread->burst_end_ns;
        found = i;
    }
    return c->next_end_ns < ns ? found : UINT32_MAX;
}

static int end_bursts(struct counters_stage *c, int64_t ns, struct as_error *err)
{
    while (c->next_end_ns < ns) {
        const uint32_t at = find_ended_burst(c, ns);
        if (at != UINT32_MAX)
            AS_TRY(end_burst(c, at, err));
    }
    return 0;
}

static int begin_burst(struct counters_stage *c, const struct as_prv_line_read *line,
                       struct as_error *err)
{
    struct counted_thread *thread = &c->thread[line->thread];
    if (thread->is_open)
        AS_TRY(end_burst(c, line->thread, err));
    AS_TRY(write_amounts(c, line->thread, line->ns, err));
    thread->burst_end_ns = line->end_ns;
    thread->is_open = true;
    if (line->end_ns < c->next_end_ns)
        c->next_end_ns = line->end_ns;
    return 0;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static int count_state(struct counters_stage *c, struct as_prv_line_read *line,
                       struct as_error *err)
{
    const struct as_edit_counters *k = c->counters;
    struct counted_thread *thread = &c->thread[line->thread];
    const bool is_burst = line->state == STATE_RUNNING && line->end_ns >= line->ns;
    if (k->is_by_bursts) {
        if (!is_burst || line->end_ns - line->ns < k->min_burst_ns)
            return 0;
        AS_TRY(begin_burst(c, line, err));
        return as_edit_pass(&c->stage, line, err);
    }
    if (is_burst) {
        if (k->sums_bursts)
            add_running(thread, c->begin_ns, INT64_MAX);
        thread->burst_ns = line->ns;
        thread->burst_end_ns = line->end_ns;
    }
    return k->removes_states || k->sums_bursts ? 0 : as_edit_pass(&c->stage, line, err);
}

static int count_events_of(struct counters_stage *c, struct as_prv_line_read *line,
                           struct as_error *err)
{
    const struct as_edit_counters *k = c->counters;
    struct counted_thread *thread = &c->thread[line->thread];
    const bool is_counted = k->is_by_bursts || !k->is_in_bursts ||
                            (line->ns > thread->burst_ns && line->ns <= thread->burst_end_ns);
    size_t n = 0;
    for (size_t i = 0; i + 1 < line->value.n; i += 2) {
        const int64_t type = line->value.at[i], value = line->value.at[i + 1];
        if (is_counted && count_event(c, thread, type, value) < 0)
            return as_error_nomem(err, "counters");
        if (!as_edit_types_have(&k->kept, type, value))
            continue;
        line->value.at[n++] = type;
        line->value.at[n++] = value;
    }
    line->value.n = n;
    return n ? as_edit_pass(&c->stage, line, err) : 0;
}

static int count_line(struct as_edit_stage *stage, struct as_prv_line_read *line,
                      struct as_error *err)
{
    struct counters_stage *c = (struct counters_stage *)stage;
    if (line->kind == AS_PRV_LINE_OTHER)
        return as_edit_pass(stage, line, err);
    if (line->ns > c->latest_ns)
        c->latest_ns = line->ns;
    AS_TRY(c->counters->is_by_bursts ? end_bursts(c, line->ns, err)
                                     : end_intervals(c, line->ns, err));
    if (line->kind == AS_PRV_LINE_STATE)
        return count_state(c, line, err);
    return line->kind == AS_PRV_LINE_EVENTS ? count_events_of(c, line, err) : 0;
}

static int end_counters(struct as_edit_stage *stage, struct as_error *err)
{
    struct counters_stage *c = (struct counters_stage *)stage;
    const int64_t end_ns = c->latest_ns > c->trace->end_ns ? c->latest_ns : c->trace->end_ns;
    bool is_idle;
    if (c->counters->is_by_bursts)
        return end_bursts(c, INT64_MAX, err);
    AS_TRY(end_intervals(c, end_ns, err));
    return end_interval(c, end_ns, &is_idle, err);
}

static void free_counters(struct as_edit_stage *stage)
{
    struct counters_stage *c = (struct counters_stage *)stage;
    for (uint32_t i = 0; c->thread && i < c->trace->header->threads_n; i++)
        as_vec_fini(&c->thread[i].counter);
    as_free(c->thread);
    as_free(c);
}

int as_edit_counters_new(const struct as_edit *edit, const struct as_edit_trace *trace,
                         struct as_edit_stage **out, struct as_error *err)
{
    const struct as_prv_header *h = trace->header;
    struct counters_stage *c = as_calloc(1, sizeof *c);
    if (!edit->counters.is_by_bursts &&
        trace->end_ns / edit->counters.interval_ns > INTERVALS_MAX) {
        as_free(c);
        return as_error_set(err, AS_ERR_USAGE,
                            "--counters: the trace has more than %lld such intervals; use a longer "
                            "one",
                            (long long)INTERVALS_MAX);
    }
    if (c)
        c->thread = as_calloc(h->threads_n ? h->threads_n : 1, sizeof *c->thread);
    if (!c || !c->thread) {
        as_free(c);
        return as_error_nomem(err, "counters");
    }
    c->stage = (struct as_edit_stage){
        .on_line = count_line, .on_end = end_counters, .fini = free_counters};
    c->counters = &edit->counters;
    c->trace = trace;
    c->interval_ns = edit->counters.interval_ns;
    c->interval_ns += (h->unit_ns - c->interval_ns % h->unit_ns) % h->unit_ns;
    c->border_ns = c->interval_ns;
    c->next_end_ns = INT64_MAX;
    *out = &c->stage;
    return 0;
}
