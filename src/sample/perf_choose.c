/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the event of a perf.data file that measures time, and its sampling rate. It uses the
 * first available of cycles, ref-cycles, cpu-clock, task-clock. Other events are only counted:
 * samples of two time events would count the same time twice.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sample/branches.h"
#include "sample/perf_data.h"

/* Kinds of time events, the best first. */
enum { CYCLES, REF_CYCLES, CPU_CLOCK, TASK_CLOCK, NO_TIME };

static bool word_is(const char *at, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(at, word, n) == 0;
}

/* Returns the kind of an event name such as "cycles:u", "cpu_core/cycles/P" or
 * "cpu/cpu-cycles,period=9/". */
static int kind_of_name(const char *name)
{
    const char *slash = strchr(name, '/');
    const char *at = slash && strncmp(name, "cpu", 3) == 0 ? slash + 1 : name;
    size_t n = strcspn(at, ":/,");
    if (word_is(at, n, "cycles") || word_is(at, n, "cpu-cycles"))
        return CYCLES;
    if (word_is(at, n, "ref-cycles"))
        return REF_CYCLES;
    if (word_is(at, n, "cpu-clock"))
        return CPU_CLOCK;
    return word_is(at, n, "task-clock") ? TASK_CLOCK : NO_TIME;
}

static int kind_of(const struct perf_event_attr *attr, const char *name)
{
    uint64_t config = attr->config & 0xffffffff; /* the upper bits have the core type */
    /* `sample_period` is also the frequency; 0: counting only. */
    if (attr->sample_period == 0)
        return NO_TIME;
    if (attr->type == PERF_TYPE_HARDWARE && config == PERF_COUNT_HW_CPU_CYCLES)
        return CYCLES;
    if (attr->type == PERF_TYPE_HARDWARE && config == PERF_COUNT_HW_REF_CPU_CYCLES)
        return REF_CYCLES;
    if (attr->type == PERF_TYPE_SOFTWARE && config == PERF_COUNT_SW_CPU_CLOCK)
        return CPU_CLOCK;
    if (attr->type == PERF_TYPE_SOFTWARE && config == PERF_COUNT_SW_TASK_CLOCK)
        return TASK_CLOCK;
    return attr->type != PERF_TYPE_SOFTWARE && name ? kind_of_name(name) : NO_TIME;
}

/* Returns true if both events count the same code: same event and a common privilege level. */
static bool overlap(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
    return a->type == b->type && a->config == b->config &&
           ((!a->exclude_user && !b->exclude_user) || (!a->exclude_kernel && !b->exclude_kernel));
}

static int name_events(struct as_perf_data *data)
{
    static const char *const clocks[] = {"cpu-clock", "task-clock"};
    for (size_t i = 0; i < data->event.n; i++) {
        const struct perf_event_attr *attr = &data->attr.at[i];
        char text[64];
        if (data->event.at[i].name)
            continue;
        if (attr->type == PERF_TYPE_SOFTWARE && attr->config < 2)
            snprintf(text, sizeof text, "%s", clocks[attr->config]);
        else if (attr->type == PERF_TYPE_HARDWARE && attr->config == 0)
            snprintf(text, sizeof text, "cycles");
        else
            snprintf(text, sizeof text, "event %u:%" PRIx64, attr->type, (uint64_t)attr->config);
        data->event.at[i].name = as_arena_strndup(&data->arena, text, strlen(text));
        if (!data->event.at[i].name)
            return AS_ERR_NOMEM;
    }
    return 0;
}

/* Marks the events of the best kind. Returns this kind. */
static int mark_time(struct as_perf_data *data)
{
    int best = NO_TIME;
    for (size_t i = 0; i < data->event.n; i++) {
        int kind = kind_of(&data->attr.at[i], data->event.at[i].name);
        best = kind < best ? kind : best;
    }
    for (size_t i = 0; best != NO_TIME && i < data->event.n; i++) {
        bool is_time = kind_of(&data->attr.at[i], data->event.at[i].name) == best;
        for (size_t k = 0; k < i; k++)
            is_time = is_time &&
                      !(data->event.at[k].is_time && overlap(&data->attr.at[k], &data->attr.at[i]));
        data->event.at[i].is_time = is_time;
    }
    return best;
}

static int no_time(const struct as_perf_data *data, struct as_error *err)
{
    char names[256] = "";
    size_t n = 0;
    for (size_t i = 0; i < data->event.n && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "",
                              data->event.at[i].name);
    return as_error_set(err, AS_ERR_UNSUPPORTED,
                        "%s: no event measures time: it has %s; record with '-e cycles' or '-e "
                        "cpu-clock'",
                        data->path, names);
}

/* Several events need an id at the same position in all records. */
static int check_numbers(const struct as_perf_data *data, struct as_error *err)
{
    const uint64_t before =
        PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID;
    const uint64_t first = data->attr.at[0].sample_type;
    bool by_identifier = true, by_id = first & PERF_SAMPLE_ID;
    for (size_t i = 0; i < data->attr.n; i++) {
        const struct perf_event_attr *attr = &data->attr.at[i];
        by_identifier = by_identifier && (attr->sample_type & PERF_SAMPLE_IDENTIFIER);
        by_id = by_id && ((attr->sample_type ^ first) & before) == 0;
    }
    if (data->attr.n == 1 || by_identifier || by_id)
        return 0;
    return as_error_set(err, AS_ERR_CORRUPT,
                        "%s: the records of its %zu events cannot be distinguished; record again "
                        "with one event",
                        data->path, data->attr.n);
}

/* ---- Survey -------------------------------------------------------------------------------- */

#define DELTAS  65536
#define THREADS 256

/* Times between two samples of a thread. In most of them the thread ran all the time. */
struct deltas {
    uint64_t at[DELTAS];
    size_t n;
    uint32_t tid[THREADS];
    uint64_t last_ns[THREADS];
};

static int add_sample_delta(void *context, const struct as_sample_record *record,
                            struct as_error *err)
{
    struct deltas *deltas = context;
    uint32_t slot = record->tid % THREADS;
    (void)err;
    if (record->kind != AS_SAMPLE_SAMPLE || deltas->n == DELTAS)
        return 0;
    if (deltas->tid[slot] == record->tid && deltas->last_ns[slot] &&
        record->time_ns > deltas->last_ns[slot])
        deltas->at[deltas->n++] = record->time_ns - deltas->last_ns[slot];
    deltas->tid[slot] = record->tid;
    deltas->last_ns[slot] = record->time_ns;
    return 0;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/*
 * Reads all records once for values that the header lacks. They are the times of the first and last
 * sample, and the sampling rate of a counter with fixed period. The rate comes from the median time
 * between samples.
 */
static int survey(struct as_perf_data *data, uint32_t *rate_hz, struct as_error *err)
{
    struct deltas *deltas = as_calloc(1, sizeof *deltas);
    *rate_hz = 0;
    if (!deltas)
        return as_error_nomem(err, data->path);
    int rc = as_perf_data_read(data, add_sample_delta, deltas, err);
    as_perf_reset(data);
    if (rc == 0 && deltas->n) {
        qsort(deltas->at, deltas->n, sizeof *deltas->at, by_size);
        uint64_t rate = 1000000000u / deltas->at[deltas->n / 2];
        *rate_hz = rate < UINT32_MAX ? (uint32_t)rate : 0;
    }
    as_free(deltas);
    return rc;
}

/* ---- Choice -------------------------------------------------------------------------------- */

static int choose_rate(struct as_perf_data *data, const struct perf_event_attr *attr, int kind,
                       struct as_error *err)
{
    struct as_sample_choice *choice = &data->choice;
    const bool by_count = !attr->freq && kind < CPU_CLOCK;
    uint64_t rate = attr->freq ? attr->sample_freq : 1000000000u / attr->sample_period;
    uint32_t seen = 0;
    if (by_count || data->facts.last_ns == 0)
        AS_TRY(survey(data, &seen, err));
    if (by_count) {
        rate = seen;
        as_sample_add_reason(
            choice, "a sample every %" PRIu64 " cycles: taken as %" PRIu64 " a second, the median",
            (uint64_t)attr->sample_period, rate);
    }
    choice->rate_hz = rate == 0 ? 1 : rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
    return 0;
}

static void emit_others(struct as_perf_data *data)
{
    char names[256] = "";
    size_t n = 0;
    as_vec_foreach (&data->event, event) {
        if (!event->is_time && strncmp(event->name, "dummy", 5) != 0 && n < sizeof names)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", event->name);
    }
    if (n)
        as_sample_add_reason(&data->choice, "samples of %s were only counted", names);
}

static uint8_t stacks_of(const struct perf_event_attr *attr)
{
    const uint64_t copy = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    if ((attr->sample_type & copy) == copy)
        return AS_STACKS_DWARF;
    if (as_branches_asked(attr))
        return AS_STACKS_LBR;
    if ((attr->sample_type & PERF_SAMPLE_CALLCHAIN) && !attr->exclude_callchain_user)
        return AS_STACKS_FRAME;
    return AS_STACKS_OFF;
}

int as_perf_choose(struct as_perf_data *data, struct as_error *err)
{
    static const uint8_t event_of[] = {AS_EVENT_CYCLES, AS_EVENT_REF_CYCLES, AS_EVENT_CPU_CLOCK,
                                       AS_EVENT_CPU_CLOCK};
    if (name_events(data) < 0)
        return as_error_nomem(err, data->path);
    data->facts.event = data->event.at;
    data->facts.event_n = data->event.n;
    AS_TRY(check_numbers(data, err));
    int kind = mark_time(data);
    if (kind == NO_TIME)
        return no_time(data, err);
    size_t first = 0;
    while (!data->event.at[first].is_time)
        first++;
    const struct perf_event_attr *attr = &data->attr.at[first];
    data->choice = (struct as_sample_choice){
        .event = event_of[kind], .kernel = !attr->exclude_kernel, .imported = true};
    as_vec_foreach (&data->attr, any) {
        data->choice.switches = data->choice.switches || any->context_switch;
        data->choice.build_ids = data->choice.build_ids || any->build_id;
    }
    if (kind == TASK_CLOCK)
        as_sample_add_reason(&data->choice,
                             "the event was task-clock, which counts as cpu-clock does");
    data->facts.stacks = stacks_of(attr);
    emit_others(data);
    return choose_rate(data, attr, kind, err);
}
