/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the content of a Perfetto file: slices, messages, counter values. */
#include <string.h>

#include "base/error.h"
#include "exchange/common.h"
#include "exchange/perfetto_write.h"

/* ---- Texts ----------------------------------------------------------------------------------- */

static int number_text(struct as_perfetto_writer *w, const char *text, uint32_t *out)
{
    const struct as_view view = as_view_of(text);
    *out = as_map_view_get(&w->texts, view);
    if (*out != AS_MAP_NONE)
        return 0;
    *out = (uint32_t)w->text.n;
    AS_TRY(as_vec_push(&w->text, text));
    return as_map_view_put(&w->texts, view, *out);
}

static int number_name(struct as_perfetto_writer *w, uint32_t process, int64_t name, uint32_t *out)
{
    const struct as_trace_process *p = &w->trace->process.at[process];
    const char *text = as_trace_name_of(p, name).text;
    if (name < 0 || (uint64_t)name >= p->name.n)
        return number_text(w, text, out);
    uint32_t *known = &w->name.at[process][name];
    int rc = *known ? 0 : number_text(w, text, known);
    *out = *known;
    return rc;
}

/* ---- Slices ---------------------------------------------------------------------------------- */

static int store_perfetto_record(struct as_perfetto_writer *w, int64_t raw_ns,
                                 enum as_perfetto_place place, struct as_perfetto_record *record)
{
    const int64_t ns = raw_ns > w->begin_ns ? raw_ns - w->begin_ns : 0;
    record->order = ns * AS_PERFETTO_PLACES_N + place;
    return as_ordered_add(w->records, record, w->err);
}

static int begin_slice(struct as_perfetto_writer *w, uint32_t location, int64_t ns, int64_t name,
                       uint32_t text, uint32_t category)
{
    struct as_perfetto_record record = {
        .kind = AS_PERFETTO_BEGIN, .track = location, .begin = {text, category + 1}};
    AS_TRY(as_vec_push(&w->thread.at[location].frame, (struct as_perfetto_frame){.name = name}));
    w->counts->slices_n++;
    return store_perfetto_record(w, ns, AS_PERFETTO_AT, &record);
}

/* Ends a slice and the slices above it, which were left without an event. A slice that is not open
 * began before the trace. */
static int end_slice(struct as_perfetto_writer *w, uint32_t location, int64_t ns, int64_t name)
{
    struct as_perfetto_thread *thread = &w->thread.at[location];
    size_t at = thread->frame.n;
    while (at > 0 && thread->frame.at[at - 1].name != name)
        at--;
    while (at > 0 && thread->frame.n >= at) {
        const struct as_perfetto_frame *frame = &thread->frame.at[--thread->frame.n];
        struct as_perfetto_record record = {
            .kind = AS_PERFETTO_END,
            .track = location,
            .end = {frame->sent_b, frame->received_b, frame->moved_b}};
        AS_TRY(store_perfetto_record(w, ns, AS_PERFETTO_AT, &record));
    }
    return 0;
}

static int enter_call(struct as_perfetto_writer *w, uint32_t location,
                      const struct as_trace_event *event)
{
    const uint32_t process = w->thread.at[location].process;
    uint32_t text;
    if (number_name(w, process, event->name, &text) < 0)
        return as_error_nomem(w->err, "names of a trace");
    return begin_slice(w, location, event->raw_ns, event->name, text,
                       as_trace_name_of(&w->trace->process.at[process], event->name).group);
}

/* Begins a slice without a routine; it has the name of its kind of record. */
static int begin_kind(struct as_perfetto_writer *w, uint32_t location,
                      const struct as_trace_event *event, const char *title, uint32_t group)
{
    uint32_t text;
    if (number_text(w, title, &text) < 0)
        return as_error_nomem(w->err, "names of a trace");
    return begin_slice(w, location, event->raw_ns, -(int64_t)event->kind, text, group);
}

static const char *title_of_barrier(int64_t sync)
{
    switch (sync) {
    case AS_TRACE_IMPLIED:
        return "implied barrier";
    case AS_TRACE_TASKWAIT:
        return "taskwait";
    case AS_TRACE_TASKGROUP:
        return "taskgroup";
    default:
        return "barrier";
    }
}

static const char *title_of_work(int64_t work)
{
    switch (work) {
    case AS_TRACE_SECTIONS:
        return "sections";
    case AS_TRACE_SINGLE:
        return "single";
    case AS_TRACE_TASKLOOP:
        return "taskloop";
    default:
        return "loop";
    }
}

/* ---- Sizes of calls ----------------------------------------------------------------------- */

static void note_sizes(struct as_perfetto_writer *w, uint32_t location,
                       const struct as_trace_event *event)
{
    struct as_perfetto_thread *thread = &w->thread.at[location];
    if (!thread->frame.n)
        return;
    struct as_perfetto_frame *frame = &thread->frame.at[thread->frame.n - 1];
    if (event->kind == AS_TRACE_COLLECTIVE) {
        frame->sent_b += event->collective.sent_b;
        frame->received_b += event->collective.received_b;
    } else if (event->kind == AS_TRACE_IO) {
        frame->moved_b += event->io.size_b > 0 ? event->io.size_b : 0;
    } else {
        frame->moved_b += event->memory.size_b;
    }
}

static int store_perfetto_value(struct as_perfetto_writer *w, uint32_t location,
                                const struct as_trace_event *event)
{
    struct as_perfetto_record record = {
        .kind = event->kind == AS_TRACE_COUNTER ? AS_PERFETTO_INTEGER : AS_PERFETTO_REAL,
        .value = event->field[1]};
    uint32_t name;
    if (number_name(w, w->thread.at[location].process, event->name, &name) < 0)
        return as_error_nomem(w->err, "names of a trace");
    while (record.track < w->counter.n && (w->counter.at[record.track].location != location ||
                                           w->counter.at[record.track].name != name))
        record.track++;
    if (record.track == w->counter.n &&
        as_vec_push(&w->counter, (struct as_perfetto_counter){location, name}) < 0)
        return as_error_nomem(w->err, "counters of a trace");
    w->counts->values_n++;
    return store_perfetto_record(w, event->raw_ns, AS_PERFETTO_AT, &record);
}

/* Stores a sample as an instant with the name of its function. */
static int store_perfetto_sample(struct as_perfetto_writer *w, uint32_t location,
                                 const struct as_trace_event *event)
{
    const struct as_trace_process *process = &w->trace->process.at[w->thread.at[location].process];
    struct as_perfetto_record record = {.kind = AS_PERFETTO_SAMPLE, .track = location};
    if (!event->list_n)
        return 0;
    struct as_exchange_place place;
    as_exchange_place_of(w->trace, process, event->list[0], false, &place);
    if (number_text(w, place.function ? place.function : "?", &record.begin.name) < 0)
        return as_error_nomem(w->err, "names of a trace");
    record.begin.category = AS_TRACE_OF_USER + 1;
    return store_perfetto_record(w, event->raw_ns, AS_PERFETTO_AT, &record);
}

/* ---- The walk -------------------------------------------------------------------------------- */

static int collect_perfetto_event(void *context, uint32_t location,
                                  const struct as_trace_event *event)
{
    struct as_perfetto_writer *w = context;
    switch (event->kind) {
    case AS_TRACE_ENTER:
        return enter_call(w, location, event);
    case AS_TRACE_LEAVE:
        return end_slice(w, location, event->raw_ns, event->name);
    case AS_TRACE_PARALLEL:
        return begin_kind(w, location, event, "parallel", AS_TRACE_OF_OPENMP);
    case AS_TRACE_IMPLICIT:
        return begin_kind(w, location, event, "implicit task", AS_TRACE_OF_OPENMP);
    case AS_TRACE_BARRIER:
        return begin_kind(w, location, event, title_of_barrier(event->field[1]),
                          AS_TRACE_OF_OPENMP);
    case AS_TRACE_WORK:
        return begin_kind(w, location, event, title_of_work(event->field[1]), AS_TRACE_OF_OPENMP);
    case AS_TRACE_TASK_BEGIN:
        return begin_kind(w, location, event, "task", AS_TRACE_OF_OPENMP);
    case AS_TRACE_OFF:
        return begin_kind(w, location, event, "not recorded", AS_TRACE_OF_PROCESS);
    case AS_TRACE_PARALLEL_END:
    case AS_TRACE_IMPLICIT_END:
    case AS_TRACE_BARRIER_END:
    case AS_TRACE_WORK_END:
    case AS_TRACE_TASK_END:
    case AS_TRACE_ON: /* ends the slice of the kind before */
        return end_slice(w, location, event->raw_ns, -((int64_t)event->kind - 1));
    case AS_TRACE_COLLECTIVE:
    case AS_TRACE_IO:
    case AS_TRACE_ALLOCATE:
        note_sizes(w, location, event);
        return 0;
    case AS_TRACE_EVENT:
    case AS_TRACE_COUNTER:
        return store_perfetto_value(w, location, event);
    case AS_TRACE_SAMPLE:
        return store_perfetto_sample(w, location, event);
    default:
        return 0;
    }
}
_Static_assert(AS_TRACE_PARALLEL_END == AS_TRACE_PARALLEL + 1 &&
                   AS_TRACE_IMPLICIT_END == AS_TRACE_IMPLICIT + 1 &&
                   AS_TRACE_BARRIER_END == AS_TRACE_BARRIER + 1 &&
                   AS_TRACE_WORK_END == AS_TRACE_WORK + 1 &&
                   AS_TRACE_TASK_END == AS_TRACE_TASK_BEGIN + 1 && AS_TRACE_ON == AS_TRACE_OFF + 1,
               "kinds that end others stand behind them");

static int collect_flow(void *context, const struct as_message *message)
{
    struct as_perfetto_writer *w = context;
    const uint64_t flow = ++w->counts->messages_n;
    struct as_perfetto_record record = {
        .kind = AS_PERFETTO_SENT,
        .track = message->send.location,
        .message = {flow, message->to, message->tag, message->sent_b}};
    AS_TRY(store_perfetto_record(w, message->send.begin_ns, AS_PERFETTO_AFTER, &record));
    record = (struct as_perfetto_record){
        .kind = AS_PERFETTO_RECEIVED,
        .track = message->receive.location,
        .message = {flow, message->from, message->tag, message->received_b}};
    return store_perfetto_record(w, message->receive.leave_ns, AS_PERFETTO_BEFORE, &record);
}

int as_perfetto_collect(struct as_perfetto_writer *w, struct as_error *err)
{
    const struct as_analysis_watch watch = {
        .context = w, .event = collect_perfetto_event, .message = collect_flow, .is_all = true};
    struct as_analysis analysis;
    w->err = err;
    AS_TRY(as_analyse_trace(w->trace, &watch, &analysis, err));
    w->counts->unmatched_n = analysis.messages.sends_n + analysis.messages.receives_n;
    as_analysis_fini(&analysis);
    return 0;
}
