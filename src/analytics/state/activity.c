/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activities of a thread: the routines that it is in, and its time of computing, communication,
 * waiting at barriers and idling.
 */
#include <string.h>

#include "analytics/state/walking.h"
#include "base/error.h"

#define NAMED(name, word, title) {word, title},
static const struct {
    const char *word, *title;
} activities[AS_ACTIVITIES_N] = {AS_ACTIVITIES(NAMED)};
#undef NAMED

const char *as_activity_word(enum as_activity activity)
{
    return (unsigned)activity < AS_ACTIVITIES_N ? activities[activity].word : "?";
}

const char *as_activity_title(enum as_activity activity)
{
    return (unsigned)activity < AS_ACTIVITIES_N ? activities[activity].title : "?";
}

/* Allocation and what users name are the program's own work. */
enum as_activity as_activity_of_group(uint32_t group)
{
    if (as_trace_is_mpi(group))
        return AS_ACTIVITY_MPI;
    switch (group) {
    case AS_TRACE_OF_OPENMP:
        return AS_ACTIVITY_OPENMP;
    case AS_TRACE_OF_THREAD:
    case AS_TRACE_OF_LOCK:
        return AS_ACTIVITY_THREADS;
    case AS_TRACE_OF_FILES:
        return AS_ACTIVITY_FILES;
    case AS_TRACE_OF_SLEEP:
        return AS_ACTIVITY_SLEEPING;
    case AS_TRACE_OF_OPENCL:
    case AS_TRACE_OF_COPY:
        return AS_ACTIVITY_OPENCL;
    default:
        return AS_ACTIVITY_COMPUTING;
    }
}

static void add_interest(struct as_location *location, const struct as_span *interest,
                         enum as_activity activity, int64_t from_ns, int64_t to_ns)
{
    const int64_t begin_ns = from_ns > interest->begin_ns ? from_ns : interest->begin_ns;
    const int64_t end_ns = to_ns < interest->end_ns ? to_ns : interest->end_ns;
    if (begin_ns < end_ns)
        location->interest_ns[activity] += end_ns - begin_ns;
}

/* Books what was done until now; what follows may be something else. */
static int turn_at(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns)
{
    struct as_location *location = &walk->out->location.at[walker->location];
    const enum as_activity activity = as_doing_now(walker);
    struct as_span did = {.begin_ns = walker->since_ns, .end_ns = ns};
    walker->since_ns = ns;
    as_phases_add(walk, walker, activity, did.begin_ns, ns);
    as_span_clip(&did, &walk->out->range);
    if (did.begin_ns >= did.end_ns && as_interest_is_part(&walk->out->range))
        return 0;
    location->activity_ns[activity] += did.end_ns - did.begin_ns;
    add_interest(location, &walk->out->interest, activity, did.begin_ns, did.end_ns);
    if (!walk->watch || !walk->watch->stretch || did.end_ns <= did.begin_ns)
        return 0;
    const struct as_open_call *call = as_walk_outermost(walker);
    return walk->watch->stretch(walk->watch->context, walker->location, activity,
                                call ? walk->text.at[call->routine] : NULL, call ? call->group : 0,
                                did.begin_ns, did.end_ns);
}

struct as_open_call *as_walk_outermost(struct as_walker *walker)
{
    if (walker->frame.n == 0)
        return NULL;
    return &walker->frame.at[walker->speaking_n ? walker->speaking_n - 1 : 0];
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static int find_sum(struct as_trace_walk *walk, uint32_t location, uint32_t site, uint32_t *out)
{
    const uint64_t hash = as_hash_mix(location, site);
    for (struct as_probe probe = as_index_probe(&walk->sums, hash);
         (*out = as_index_next(&walk->sums, &probe)) != AS_INDEX_NONE;) {
        const struct as_site_sum *sum = &walk->out->sum.at[*out];
        if (sum->location == location && sum->site == site)
            return 0;
    }
    AS_TRY(as_vec_push(&walk->out->sum, (struct as_site_sum){.location = location, .site = site}));
    *out = (uint32_t)(walk->out->sum.n - 1);
    return as_index_add(&walk->sums, hash, *out);
}

/* A thread makes few different calls: most are found at the first look. */
static int find_call(struct as_trace_walk *walk, struct as_walker *walker,
                     const struct as_open_call *frame, struct as_call_known **out)
{
    const uint64_t mixed = (frame->address + frame->routine) * UINT64_C(0x9e3779b97f4a7c15);
    struct as_call_known *call = *out = &walker->known[(mixed >> 32) % AS_CALLS_KNOWN];
    if (call->is_known && call->routine == frame->routine && call->address == frame->address)
        return 0;
    *call = (struct as_call_known){
        .address = frame->address, .routine = frame->routine, .sum = UINT32_MAX};
    AS_TRY(as_walk_site(walk, walker, frame, &call->site));
    call->is_known = true;
    return 0;
}

/* A call that came back after so long, or did not. */
static int add_to_sum(struct as_trace_walk *walk, struct as_walker *walker,
                      const struct as_open_call *frame, struct as_call_known *call, int64_t ns,
                      bool came_back)
{
    struct as_span part = {.begin_ns = frame->enter_ns, .end_ns = frame->enter_ns + ns};
    if (walk->is_watched || !as_span_meets(&part, &walk->out->range))
        return 0;
    as_span_clip(&part, &walk->out->range);
    const bool is_cut = part.end_ns - part.begin_ns != ns;
    ns = part.end_ns - part.begin_ns;
    if (call->sum == UINT32_MAX)
        AS_TRY(find_sum(walk, walker->location, call->site, &call->sum));
    struct as_site_sum *sum = &walk->out->sum.at[call->sum];
    bool is_inner = false;
    for (size_t i = 0; i < walker->frame.n && !is_inner; i++)
        is_inner = walker->frame.at[i].name == frame->name;
    sum->calls_n += frame->calls_n;
    sum->sent_b += frame->sent_b;
    sum->received_b += frame->received_b;
    if (!came_back) {
        sum->open_n++;
        return 0;
    }
    const int64_t longest_ns = frame->longest_ns && !is_cut ? frame->longest_ns : ns;
    sum->time_ns += is_inner ? 0 : ns;
    sum->transfer_ns += is_inner || !frame->moves_data ? 0 : ns;
    sum->most_ns = longest_ns > sum->most_ns ? longest_ns : sum->most_ns;
    return 0;
}

/* ---- Routines -------------------------------------------------------------------------------- */

static int enter_routine(struct as_trace_walk *walk, struct as_walker *walker,
                         const struct as_trace_event *event)
{
    const struct as_trace_process *process = &walk->trace->process.at[walker->process];
    struct as_trace_name name = as_trace_name_of(process, event->name);
    struct as_open_call frame = {.name = event->name,
                                 .group = name.group,
                                 .address = name.address,
                                 .is_function = name.address != 0,
                                 .enter_ns = event->raw_ns,
                                 .calls_n = 1};
    if (event->name >= 0 && (uint64_t)event->name < process->name.n)
        frame.routine = walk->routine.at[walker->process][event->name];
    AS_TRY(turn_at(walk, walker, event->raw_ns));
    walker->depth[as_activity_of_group(name.group)]++;
    AS_TRY(as_vec_push(&walker->frame, frame));
    AS_TRY(as_phases_enter(walk, walker, &frame, event->raw_ns));
    if (!walker->speaking_n && as_activity_of_group(name.group) == AS_ACTIVITY_MPI)
        walker->speaking_n = walker->frame.n;
    return 0;
}

/* Between calls that one stands for, the thread did what it does outside. */
static int64_t end_of_inside(const struct as_walker *walker, const struct as_open_call *frame,
                             int64_t ns)
{
    const int64_t end_ns = frame->enter_ns + frame->inside_ns;
    return frame->inside_ns && end_ns < ns && end_ns >= walker->since_ns ? end_ns : ns;
}

static int leave_frame(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns)
{
    struct as_open_call frame = walker->frame.at[walker->frame.n - 1];
    struct as_call_known *call;
    const int64_t inside_ns = end_of_inside(walker, &frame, ns);
    AS_TRY(turn_at(walk, walker, inside_ns));
    walker->depth[as_activity_of_group(frame.group)]--;
    AS_TRY(find_call(walk, walker, &frame, &call));
    const struct as_open_call *last = &walker->frame.at[walker->frame.n - 1];
    const struct as_open_call *outermost = as_walk_outermost(walker);
    const bool is_outermost = outermost && last == outermost;
    frame.moves_data = is_outermost && as_mpi_moves_data(walk, walker, &frame);
    if (is_outermost && walker->record.n) {
        AS_TRY(as_mpi_left(walk, walker, &frame, call->site, ns));
        frame.sent_b = last->sent_b;
        frame.received_b = last->received_b;
        walker->record.n = 0;
    }
    if (walker->queue || frame.awaits)
        AS_TRY(as_devices_left(walk, walker, &frame, call->site, ns));
    if (walker->frame.n == walker->speaking_n)
        walker->speaking_n = 0;
    walker->frame.n--;
    AS_TRY(turn_at(walk, walker, ns));
    AS_TRY(as_phases_leave(walk, walker, &frame, ns));
    return add_to_sum(walk, walker, &frame, call, inside_ns - frame.enter_ns, true);
}

/* Frames above it were left by other ways: longjmp, an exception, records that were lost. */
static int leave_routine(struct as_trace_walk *walk, struct as_walker *walker,
                         const struct as_trace_event *event)
{
    size_t at = walker->frame.n;
    while (at > 0 && walker->frame.at[at - 1].name != event->name)
        at--;
    if (at == 0) {
        walk->out->broken_n++;
        return 0;
    }
    while (walker->frame.n >= at)
        AS_TRY(leave_frame(walk, walker, event->raw_ns));
    return 0;
}

static void repeat_routine(struct as_walker *walker, const struct as_trace_event *event)
{
    if (walker->frame.n == 0 || event->repeated.calls < 1)
        return;
    struct as_open_call *frame = &walker->frame.at[walker->frame.n - 1];
    frame->calls_n = (uint64_t)event->repeated.calls;
    frame->inside_ns = event->repeated.inside_ns;
    frame->longest_ns = event->repeated.longest_ns;
}

/* Adds a record that sums up several calls. */
static void add_traffic(struct as_trace_walk *walk, struct as_walker *walker,
                        const struct as_trace_event *event)
{
    walk->out->summed_n++;
    if (walker->frame.n == 0)
        return;
    struct as_open_call *frame = &walker->frame.at[walker->frame.n - 1];
    frame->sent_b += (uint64_t)event->traffic.sent_b;
    frame->received_b += (uint64_t)event->traffic.received_b;
}

/* ---- OpenMP ---------------------------------------------------------------------------------- */

static void leave_openmp(struct as_walker *walker)
{
    uint32_t *depth = &walker->depth[AS_ACTIVITY_OPENMP];
    *depth -= *depth > 0;
}

static void become_idle(int64_t *activity_ns, int64_t computing_ns)
{
    activity_ns[AS_ACTIVITY_IDLE] += activity_ns[AS_ACTIVITY_COMPUTING] - computing_ns;
    activity_ns[AS_ACTIVITY_COMPUTING] = computing_ns;
}

/* A worker that comes to its first part of a parallel region had no work before. */
static int begin_part(struct as_trace_walk *walk, struct as_walker *walker,
                      const struct as_trace_event *event)
{
    struct as_team team = {event->parallel.region, event->parallel.index, event->parallel.threads};
    struct as_location *location = &walk->out->location.at[walker->location];
    AS_TRY(turn_at(walk, walker, event->raw_ns));
    if (team.index > 0 && !walker->has_worked && walker->handle == 0) {
        become_idle(location->activity_ns, walker->on_computing_ns);
        become_idle(location->interest_ns, walker->on_interest_ns);
        as_phases_become_idle(walk, walker);
        struct as_span idle = {.begin_ns = walker->on_ns, .end_ns = event->raw_ns};
        as_span_clip(&idle, &walk->out->range);
        if (walk->watch && walk->watch->idle_until && idle.begin_ns < idle.end_ns)
            AS_TRY(walk->watch->idle_until(walk->watch->context, walker->location, idle.begin_ns,
                                           idle.end_ns));
    }
    for (; walker->team.n == 0 && walker->ended_n; walker->ended_n--)
        leave_openmp(walker); /* the end of that region is not in the trace */
    walker->has_worked = true;
    walker->is_spare = false;
    return as_vec_push(&walker->team, team);
}

/* It waits for the others; a worker then has nothing to do. */
static int end_part(struct as_trace_walk *walk, struct as_walker *walker,
                    const struct as_trace_event *event)
{
    const int64_t ns = event->raw_ns;
    if (walker->team.n == 0 && walker->was_off) { /* it began while nothing was recorded */
        AS_TRY(as_vec_push(&walker->team,
                           (struct as_team){event->parallel.region, event->parallel.index, 0}));
        walker->has_worked = true;
    }
    if (walker->team.n == 0) {
        walk->out->broken_n++;
        return 0;
    }
    AS_TRY(turn_at(walk, walker, ns));
    struct as_team team = walker->team.at[--walker->team.n];
    walker->is_spare = team.index > 0 && walker->team.n == 0;
    walker->spare_ns = ns;
    walker->ended_n += walker->awaits_team;
    walker->depth[AS_ACTIVITY_OPENMP] += walker->awaits_team;
    return 0;
}

int as_doing_released(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns)
{
    struct as_span *span = &walk->out->location.at[walker->location].span;
    if (walker->ended_n == 0)
        return 0;
    if (ns < walker->since_ns) /* by another's clock */
        ns = walker->since_ns;
    AS_TRY(turn_at(walk, walker, ns));
    if (ns > span->end_ns) /* it was there, whatever its stream says last */
        span->end_ns = ns;
    walker->ended_n--;
    walker->spare_ns = ns;
    leave_openmp(walker);
    return 0;
}

/* Whatever it stands at, it computes while it runs a task. */
static int begin_task(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns)
{
    AS_TRY(turn_at(walk, walker, ns));
    AS_TRY(as_vec_push(&walker->task, walker->depth[AS_ACTIVITY_OPENMP]));
    walker->depth[AS_ACTIVITY_OPENMP] = 0;
    return 0;
}

static int end_task(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns)
{
    AS_TRY(turn_at(walk, walker, ns));
    if (walker->task.n)
        walker->depth[AS_ACTIVITY_OPENMP] = walker->task.at[--walker->task.n];
    return 0;
}

static int stand_at_barrier(struct as_trace_walk *walk, struct as_walker *walker,
                            const struct as_trace_event *event)
{
    if (event->lock.kind == AS_TRACE_POSIX) /* within a routine */
        return 0;
    AS_TRY(turn_at(walk, walker, event->raw_ns));
    if (event->kind == AS_TRACE_BARRIER)
        walker->depth[AS_ACTIVITY_OPENMP]++;
    else
        leave_openmp(walker);
    return 0;
}

static int notify_sample(struct as_trace_walk *walk, struct as_walker *walker,
                         const struct as_trace_event *event)
{
    if (!walk->watch || !walk->watch->sample)
        return 0;
    const struct as_open_call *call = as_walk_outermost(walker);
    return walk->watch->sample(walk->watch->context, &walk->trace->process.at[walker->process],
                               walker->location, as_doing_now(walker),
                               call ? walk->text.at[call->routine] : NULL, event);
}

/* Bytes that the innermost call wrote count as sent, those that it read as received. */
static void add_moved(struct as_walker *walker, const struct as_trace_event *event)
{
    struct as_open_call *frame = walker->frame.n ? &walker->frame.at[walker->frame.n - 1] : NULL;
    if (!frame || frame->group != AS_TRACE_OF_FILES || event->io.size_b <= 0)
        return;
    if (event->io.way == AS_TRACE_IS_WRITTEN)
        frame->sent_b += (uint64_t)event->io.size_b;
    else
        frame->received_b += (uint64_t)event->io.size_b;
}

int as_doing_event(struct as_trace_walk *walk, struct as_walker *walker,
                   const struct as_trace_event *event)
{
    switch (event->kind) {
    case AS_TRACE_ENTER:
        return enter_routine(walk, walker, event);
    case AS_TRACE_LEAVE:
        return leave_routine(walk, walker, event);
    case AS_TRACE_CALLERS:
        if (walker->frame.n && event->list_n)
            walker->frame.at[walker->frame.n - 1].address = event->list[0];
        return 0;
    case AS_TRACE_REPEATED:
        repeat_routine(walker, event);
        return 0;
    case AS_TRACE_TRAFFIC:
        add_traffic(walk, walker, event);
        return 0;
    case AS_TRACE_IO:
        add_moved(walker, event);
        return 0;
    case AS_TRACE_DEVICE:
        return as_devices_event(walk, walker, event);
    case AS_TRACE_SAMPLE:
        return notify_sample(walk, walker, event);
    case AS_TRACE_BARRIER:
    case AS_TRACE_BARRIER_END:
        return stand_at_barrier(walk, walker, event);
    case AS_TRACE_IMPLICIT:
        return begin_part(walk, walker, event);
    case AS_TRACE_IMPLICIT_END:
        return end_part(walk, walker, event);
    case AS_TRACE_TASK_BEGIN:
        return begin_task(walk, walker, event->raw_ns);
    case AS_TRACE_TASK_END:
        return end_task(walk, walker, event->raw_ns);
    default:
        return 0;
    }
}

/* Calls that enclose it, if any, are over for us; OpenMP's constructs have ends of their own. */
int as_doing_off(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns)
{
    while (walker->frame.n)
        AS_TRY(leave_frame(walk, walker, ns));
    AS_TRY(turn_at(walk, walker, ns));
    memset(walker->depth, 0, sizeof walker->depth);
    walker->team.n = walker->task.n = walker->record.n = 0;
    walker->ended_n = 0;
    walker->awaits_team = walker->is_spare = false;
    walker->is_off = walker->was_off = true;
    return 0;
}

/* Tracing is on again. The next event decides whether a worker has work. */
int as_doing_on(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns)
{
    AS_TRY(turn_at(walk, walker, ns));
    walker->is_off = walker->has_worked = false;
    walker->on_ns = ns;
    walker->on_computing_ns =
        walk->out->location.at[walker->location].activity_ns[AS_ACTIVITY_COMPUTING];
    walker->on_interest_ns =
        walk->out->location.at[walker->location].interest_ns[AS_ACTIVITY_COMPUTING];
    return 0;
}

/* Nothing more comes of this thread. Calls that are open lasted until then. */
int as_doing_end(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns)
{
    AS_TRY(turn_at(walk, walker, ns));
    while (walker->frame.n) {
        const struct as_open_call frame = walker->frame.at[--walker->frame.n];
        struct as_call_known *call;
        AS_TRY(find_call(walk, walker, &frame, &call));
        AS_TRY(add_to_sum(walk, walker, &frame, call, 0, false));
    }
    return 0;
}
