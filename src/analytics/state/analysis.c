/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/state/analysis.h"

#include <assert.h>
#include <string.h>

#include "analytics/match/channels.h"
#include "analytics/match/windows.h"
#include "analytics/omp/tasks.h"
#include "analytics/parallel/partition.h"
#include "base/error.h"

/* ---- Before the walk ------------------------------------------------------------------------- */

/* Names of one text are one routine in all processes. */
static int intern_text(struct as_trace_walk *walk, const char *text, uint32_t *out)
{
    const uint64_t hash = as_hash_text(3, text);
    for (struct as_probe probe = as_index_probe(&walk->texts, hash);
         (*out = as_index_next(&walk->texts, &probe)) != AS_INDEX_NONE;) {
        assert(walk->text.at && *out < walk->text.n);
        if (strcmp(walk->text.at[*out], text) == 0)
            return 0;
    }
    AS_TRY(as_vec_push(&walk->text, text));
    AS_TRY(as_vec_push(&walk->collective, (uint8_t)as_mpi_collective_of(text)));
    AS_TRY(as_vec_push(&walk->send_bits, (uint8_t)as_mpi_send_bits(text)));
    AS_TRY(as_vec_push(&walk->is_file, as_mpi_is_file(text)));
    *out = (uint32_t)(walk->text.n - 1);
    return as_index_add(&walk->texts, hash, *out);
}

static int number_routines(struct as_trace_walk *walk, const struct as_trace_process *process)
{
    uint32_t *routine = as_calloc(process->name.n + 1, sizeof *routine);
    if (!routine || as_vec_push(&walk->routine, routine) < 0) {
        as_free(routine);
        return AS_ERR_NOMEM;
    }
    for (size_t i = 0; i < process->name.n; i++)
        AS_TRY(intern_text(walk, process->name.at[i].text ? process->name.at[i].text : "?",
                           &routine[i]));
    return 0;
}

static int add_locations(struct as_trace_walk *walk, uint32_t p)
{
    const struct as_trace_process *process = &walk->trace->process.at[p];
    const uint32_t first = (uint32_t)walk->out->location.n;
    for (uint32_t t = 0; t < process->thread.n; t++) {
        const struct as_trace_stream_facts *f = as_trace_stream_facts(process->thread.at[t]);
        struct as_location location = {.process = p,
                                       .thread = t,
                                       .rank = process->rank,
                                       .tid = f->tid,
                                       .queue = as_devices_label(f),
                                       .span = {f->begin_raw_ns, f->end_raw_ns, AS_WAIT_UNKNOWN}};
        for (uint32_t i = first; i < walk->out->location.n; i++)
            if (f->parent_tid && walk->out->location.at[i].tid == f->parent_tid)
                location.span.parent = i;
        struct as_walker walker = {.location = (uint32_t)walk->out->location.n,
                                   .process = p,
                                   .since_ns = f->begin_raw_ns,
                                   .queue = as_devices_queue_of(process, f->tid),
                                   .done_ns = f->begin_raw_ns,
                                   .done_site = AS_WAIT_UNKNOWN,
                                   .on_ns = f->begin_raw_ns,
                                   .kept_ns = INT64_MIN,
                                   .lock_ns = INT64_MIN,
                                   .join_ns = INT64_MIN};
        if (f->overwritten_n) {
            walker.kept_ns = as_trace_stream_kept_ns(process->thread.at[t]);
            walker.is_off = walker.was_off = walk->was_off = true;
            walk->is_doubted.at[p] = walk->has_doubts = true;
        }
        AS_TRY(as_vec_push(&walk->out->location, location));
        AS_TRY(as_vec_push(&walk->walker, walker));
    }
    return 0;
}

int as_walk_prepare(struct as_trace_walk *walk, struct as_error *err)
{
    uint32_t unknown;
    walk->out->interest = walk->out->range = AS_INTEREST_ALL;
    if (walk->watch && walk->watch->range)
        walk->out->interest = walk->out->range = *walk->watch->range;
    if (!walk->is_watched && !as_interest_is_part(&walk->out->range))
        AS_TRY(as_interest_find(walk->trace, &walk->out->interest, err));
    AS_TRY(intern_text(walk, "?", &unknown)); /* number 0 */
    AS_TRY(intern_text(walk, "omp parallel", &walk->parallel_routine));
    AS_TRY(intern_text(walk, "omp barrier", &walk->barrier_routine));
    for (uint32_t p = 0; p < walk->trace->process.n; p++) {
        AS_TRY(number_routines(walk, &walk->trace->process.at[p]));
        AS_TRY(as_vec_push(&walk->is_doubted, 0));
        AS_TRY(add_locations(walk, p));
    }
    if (!walk->is_watched)
        AS_TRY(as_phases_new(walk));
    AS_TRY(as_mpi_new(walk));
    AS_TRY(as_tasks_new(walk));
    return as_teams_new(walk);
}

/* ---- The walk -------------------------------------------------------------------------------- */

static int store_call_record(struct as_walker *walker, const struct as_trace_event *event)
{
    if (walker->frame.n == 0)
        return 0;
    AS_TRY(as_vec_reserve(&walker->record, walker->record.n + 1));
    struct as_call_record *record = &walker->record.at[walker->record.n++];
    record->ns = event->raw_ns;
    record->kind = event->kind;
    memcpy(record->field, event->field, sizeof record->field);
    return 0;
}

/* Those who do not want to know of a kind of event are not asked: routines and what calls record
 * are most of a trace. */
static int hand_event(struct as_trace_walk *walk, struct as_walker *walker,
                      const struct as_trace_event *event)
{
    switch (event->kind) {
    case AS_TRACE_ENTER:
    case AS_TRACE_LEAVE:
    case AS_TRACE_CALLERS:
        return as_doing_event(walk, walker, event);
    case AS_TRACE_SYNC:
        if (!walk->is_doubted.at[walker->process])
            AS_TRY(as_windows_event(walk, walker, event));
        return store_call_record(walker, event);
    case AS_TRACE_SEND:
    case AS_TRACE_POST:
    case AS_TRACE_RECEIVE:
    case AS_TRACE_START:
    case AS_TRACE_DONE:
    case AS_TRACE_CANCELLED:
    case AS_TRACE_FREED:
    case AS_TRACE_COLLECTIVE:
    case AS_TRACE_RMA:
    case AS_TRACE_PARTS:
        return store_call_record(walker, event);
    case AS_TRACE_OFF:
    case AS_TRACE_ON:
        return as_off_event(walk, walker, event);
    case AS_TRACE_MISSED:
        return as_mpi_missed(walk, walker, event);
    default:
        AS_TRY(as_threads_event(walk, walker, event));
        AS_TRY(as_teams_event(walk, walker, event));
        AS_TRY(as_tasks_event(walk, walker, event));
        return as_doing_event(walk, walker, event);
    }
}

static int on_trace_event(struct as_trace_walk *walk, struct as_walker *walker,
                          const struct as_trace_event *event)
{
    struct as_location *location = &walk->out->location.at[walker->location];
    walk->out->events_n++;
    location->events_n++;
    if (walker->kept_ns != INT64_MIN) { /* the first that a ring still has */
        AS_TRY(as_doing_on(walk, walker, walker->kept_ns));
        walker->kept_ns = INT64_MIN;
    }
    if (event->raw_ns > location->span.end_ns)
        location->span.end_ns = event->raw_ns;
    if (walk->watch && walk->watch->event)
        AS_TRY(walk->watch->event(walk->watch->context, walker->location, event));
    AS_TRY(hand_event(walk, walker, event));
    if (walk->is_watched)
        walk->out->waits.wait.n = 0;
    return 0;
}

static int walk_event(void *context, uint32_t location, const struct as_trace_event *event)
{
    struct as_trace_walk *walk = context;
    assert(location < walk->walker.n);
    struct as_walker *walker = &walk->walker.at[location];
    walker->is_over = !event;
    if (!event)
        return 0;
    if (!walk->part)
        return on_trace_event(walk, walker, event);
    as_part_at(walk->part, location, event->raw_ns);
    AS_TRY(on_trace_event(walk, walker, event));
    return as_part_passed(walk->part, walk);
}

int as_walk_all(struct as_trace_walk *walk, struct as_error *err)
{
    const bool *is_left_out = walk->part ? walk->part->is_left_out : NULL;
    AS_TRY(as_walk_in_order(walk->trace, is_left_out, walk_event, walk, err));
    as_vec_foreach (&walk->walker, walker) {
        if (is_left_out && is_left_out[walker->process])
            continue;
        if (walk->part)
            as_part_at(walk->part, walker->location, AS_PART_AFTER_NS);
        AS_TRY(as_doing_end(walk, walker, walk->out->location.at[walker->location].span.end_ns));
        if (walk->part)
            AS_TRY(as_part_passed(walk->part, walk));
    }
    return 0;
}

/* ---- After it -------------------------------------------------------------------------------- */

static int find_causes(struct as_analysis *out)
{
    struct as_span *span = as_calloc(out->location.n + 1, sizeof *span);
    struct as_causes *causes = NULL;
    int rc = span ? 0 : AS_ERR_NOMEM;
    bool has_ranks = false;
    as_vec_foreach (&out->location, location)
        has_ranks |= location->rank >= 0;
    for (size_t i = 0; rc == 0 && i < out->location.n; i++) {
        span[i] = out->location.at[i].span;
        /* Neither a launcher nor a device is what ends the run. */
        if ((has_ranks && out->location.at[i].rank < 0) || out->location.at[i].queue)
            span[i].end_ns = INT64_MIN;
    }
    if (rc == 0)
        rc = as_causes_new(&causes, &out->waits, span, (uint32_t)out->location.n);
    if (rc == 0)
        rc = as_causes_path(causes, &out->path);
    if (rc == 0)
        rc = as_causes_blame(causes, &out->blame);
    as_causes_free(&causes);
    as_free(span);
    return rc;
}

/* Clips wait states to the analysed part and to the end of their thread's stream. A stream ends
 * early at a limit, or if the thread is killed. */
static void clip_waits(struct as_analysis *out)
{
    size_t kept = 0;
    as_vec_foreach (&out->waits.wait, wait) {
        const int64_t end_ns = out->location.at[wait->location].span.end_ns;
        if (wait->begin_ns < out->range.begin_ns) {
            wait->begin_ns = out->range.begin_ns;
            wait->cause_ns = wait->cause_ns > wait->begin_ns ? wait->cause_ns : wait->begin_ns;
        }
        if (wait->end_ns > end_ns) {
            wait->end_ns = end_ns;
            wait->cause_ns = wait->cause_ns < end_ns ? wait->cause_ns : end_ns;
        }
        if (wait->end_ns > wait->begin_ns)
            out->waits.wait.at[kept++] = *wait;
    }
    out->waits.wait.n = kept;
}

/* Threads were there for their part of the range. */
static void clip_locations(struct as_analysis *out)
{
    out->whole = (struct as_span){.begin_ns = INT64_MAX, .end_ns = INT64_MIN};
    as_vec_foreach (&out->location, location) {
        struct as_span *span = &location->span;
        out->whole.begin_ns =
            span->begin_ns < out->whole.begin_ns ? span->begin_ns : out->whole.begin_ns;
        out->whole.end_ns = span->end_ns > out->whole.end_ns ? span->end_ns : out->whole.end_ns;
        as_span_clip(span, &out->range);
        if (span->begin_ns > span->end_ns) /* before the range, or after it */
            span->begin_ns = span->end_ns =
                span->begin_ns >= out->range.end_ns ? out->range.end_ns : out->range.begin_ns;
    }
}

int as_walk_conclude(struct as_analysis *out)
{
    clip_locations(out);
    out->begin_ns = out->location.n ? INT64_MAX : 0;
    out->end_ns = out->location.n ? INT64_MIN : 0;
    as_vec_foreach (&out->location, location) {
        if (location->span.begin_ns < out->begin_ns)
            out->begin_ns = location->span.begin_ns;
        if (location->span.end_ns > out->end_ns)
            out->end_ns = location->span.end_ns;
    }
    for (unsigned path = 0; path < AS_EAGER_PATHS_N; path++)
        if (out->eager_b[path] < AS_EAGER_B)
            out->eager_b[path] = AS_EAGER_B;
    as_waits_drop_eager(&out->waits, out->eager_b);
    clip_waits(out);
    AS_TRY(as_waits_once(&out->waits));
    AS_TRY(as_spent_of(out));
    as_efficiency_of(out);
    return find_causes(out);
}

void as_walk_free(struct as_trace_walk *walk)
{
    as_vec_foreach (&walk->walker, walker) {
        as_vec_fini(&walker->frame);
        as_vec_fini(&walker->record);
        as_vec_fini(&walker->team);
        as_vec_fini(&walker->task);
    }
    as_vec_foreach (&walk->routine, routine)
        as_free(*routine);
    as_vec_fini(&walk->walker);
    as_vec_fini(&walk->routine);
    as_vec_fini(&walk->text);
    as_vec_fini(&walk->collective);
    as_vec_fini(&walk->send_bits);
    as_vec_fini(&walk->is_file);
    as_numbered_fini(&walk->requests);
    as_vec_fini(&walk->is_doubted);
    as_vec_foreach (&walk->lock, lock)
        as_vec_fini(&lock->meeting.member);
    as_vec_fini(&walk->lock);
    as_vec_fini(&walk->joining);
    as_index_fini(&walk->texts);
    as_vec_fini(&walk->seen);
    as_index_fini(&walk->sites);
    as_index_fini(&walk->places);
    as_index_fini(&walk->sums);
    as_index_fini(&walk->traffics);
    as_index_fini(&walk->lock_rows);
    as_messages_free(&walk->messages);
    as_collectives_free(&walk->collectives);
    as_neighbours_free(&walk->near);
    as_groups_free(&walk->groups);
    as_windows_free(walk);
    as_channels_free(&walk->channels);
    as_teams_free(walk);
    as_tasks_free(walk);
    as_phases_free(&walk->phases);
}

int as_analyse_trace(const struct as_trace *trace, const struct as_analysis_watch *watch,
                     struct as_analysis *out, struct as_error *err)
{
    struct as_trace_walk walk = {
        .trace = trace, .watch = watch, .out = out, .is_watched = watch && watch->is_all};
    *out = (struct as_analysis){0};
    int rc = as_walk_prepare(&walk, err);
    if (rc == 0)
        rc = as_walk_all(&walk, err);
    if (rc == 0)
        rc = as_mpi_end(&walk);
    if (rc == 0 && !walk.is_watched)
        rc = as_walk_conclude(out);
    if (rc == 0 && !walk.is_watched)
        rc = as_phases_conclude(&walk);
    if (rc == AS_ERR_NOMEM)
        as_error_nomem(err, "what a trace says");
    as_walk_free(&walk);
    if (rc < 0)
        as_analysis_fini(out);
    return rc;
}

void as_analysis_fini(struct as_analysis *a)
{
    as_vec_fini(&a->phase);
    as_vec_fini(&a->location);
    as_vec_fini(&a->site);
    as_vec_fini(&a->sum);
    as_vec_fini(&a->traffic);
    as_vec_fini(&a->waits.wait);
    as_vec_fini(&a->blame.blame);
    as_vec_fini(&a->path.piece);
}
