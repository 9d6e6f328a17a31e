/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/parallel/partition.h"

#include <math.h>
#include <stdio.h>

#include "analytics/state/interest.h"
#include "base/error.h"
#include "trace/cost.h"

/* ---- What passes by -------------------------------------------------------------------------- */

int64_t as_size_class_from(unsigned at)
{
    return at == 0 ? 0 : at < 64 ? (int64_t)1 << (at - 1) : INT64_MAX;
}

static int watch_stretch(void *context, uint32_t location, enum as_activity activity,
                         const char *routine, uint32_t group, int64_t begin_ns, int64_t end_ns)
{
    struct as_traced *traced = context;
    (void)routine;
    (void)group;
    as_timeline_stretch(&traced->timeline, location, activity, begin_ns, end_ns);
    AS_TRY(as_counters_stretch(&traced->counters, location, activity, end_ns));
    return activity == AS_ACTIVITY_OFF ? as_gaps_add(&traced->gaps.at[location], begin_ns, end_ns)
                                       : 0;
}

static int watch_idle(void *context, uint32_t location, int64_t begin_ns, int64_t end_ns)
{
    struct as_traced *traced = context;
    as_timeline_idle(&traced->timeline, location, begin_ns, end_ns);
    return 0;
}

static int watch_event(void *context, uint32_t location, const struct as_trace_event *event)
{
    struct as_traced *traced = context;
    if (event->kind == AS_TRACE_OFF)
        traced->gaps.at[location].why = (uint32_t)event->field[0];
    if (traced->is_ranged && !as_moment_is_in(event->raw_ns, &traced->range))
        return 0;
    /* If several processes analyse the trace, names do not matter: a trace with counters is left to
     * one. */
    const struct as_trace_process *process =
        location < traced->analysis.location.n
            ? &traced->trace.process.at[traced->analysis.location.at[location].process]
            : NULL;
    return as_counters_event(&traced->counters, process, location, event);
}

static int watch_sample(void *context, const struct as_trace_process *process, uint32_t location,
                        enum as_activity activity, const char *routine,
                        const struct as_trace_event *event)
{
    struct as_traced *traced = context;
    if (traced->is_ranged && !as_moment_is_in(event->raw_ns, &traced->range))
        return 0;
    return as_sampled_add_event(&traced->sampled, process, location, activity, routine, event);
}

static int watch_message(void *context, const struct as_message *message)
{
    struct as_traced *traced = context;
    if (traced->is_ranged && !as_moment_is_in(message->send.begin_ns, &traced->range))
        return 0;
    struct as_size_class *size = &traced->size[as_size_class_of(message->received_b)];
    size->n++;
    size->size_b += message->received_b > 0 ? (uint64_t)message->received_b : 0;
    return as_exchanges_message(&traced->exchanges, message);
}

static void sum_size_waits(struct as_traced *traced)
{
    as_vec_foreach (&traced->analysis.waits.wait, wait)
        if (wait->kind == AS_WAIT_LATE_SENDER || wait->kind == AS_WAIT_WRONG_ORDER)
            traced->size[wait->size_class].wait_ns += wait->end_ns - wait->begin_ns;
}

/* ---- All ------------------------------------------------------------------------------------- */

static int run_trace_directory(struct as_experiment *experiment, int64_t run_id,
                               char path[static 4096 + 8], struct as_error *err)
{
    char directory[4096];
    AS_TRY(as_experiment_run_directory(experiment, run_id, directory, sizeof directory, err));
    snprintf(path, 4096 + 8, "%s/trace", directory);
    return 0;
}

int as_run_trace_open(struct as_experiment *experiment, int64_t run_id, struct as_trace *out,
                      struct as_error *err)
{
    char path[4096 + 8];
    AS_TRY(run_trace_directory(experiment, run_id, path, err));
    return as_trace_open(path, out, err);
}

int as_traced_begin(struct as_traced *traced, const struct as_trace *trace)
{
    struct as_span span = {.begin_ns = INT64_MAX, .end_ns = INT64_MIN};
    uint32_t n = 0;
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->thread, stream) {
            const struct as_trace_stream_facts *f = as_trace_stream_facts(*stream);
            span.begin_ns = f->begin_raw_ns < span.begin_ns ? f->begin_raw_ns : span.begin_ns;
            span.end_ns = f->end_raw_ns > span.end_ns ? f->end_raw_ns : span.end_ns;
            n++;
            const struct as_gaps gaps = {.why = f->overwritten_n ? AS_GAP_OVERWRITTEN : 0};
            AS_TRY(as_vec_push(&traced->gaps, gaps));
        }
    if (traced->is_ranged)
        as_span_clip(&span, &traced->range);
    return as_timeline_new(&traced->timeline, n, n ? span.begin_ns : 0, n ? span.end_ns : 0);
}

/* Counted while streams are read. */
static void count_losses(struct as_traced *traced, bool *uses_counter)
{
    traced->damaged_n += traced->trace.damaged_n;
    as_vec_foreach (&traced->trace.process, process)
        as_vec_foreach (&process->thread, stream) {
            const struct as_trace_stream_facts *f = as_trace_stream_facts(*stream);
            traced->lost_n += f->lost_n;
            traced->samples_lost_n += f->samples_lost_n;
            traced->filtered_n += f->filtered_n;
            traced->damaged_n += traced->is_gathered ? 0 : f->damaged_n;
            *uses_counter &= f->clock == AS_TRACE_TSC;
        }
    traced->damaged_n -= traced->counted_twice_n;
}

struct as_analysis_watch as_traced_watch(struct as_traced *traced)
{
    return (struct as_analysis_watch){.context = traced,
                                      .range = traced->is_ranged ? &traced->range : NULL,
                                      .event = watch_event,
                                      .stretch = watch_stretch,
                                      .idle_until = watch_idle,
                                      .message = watch_message,
                                      .sample = watch_sample};
}

static int analyse_alone(struct as_traced *out, struct as_error *err)
{
    const struct as_analysis_watch watch = as_traced_watch(out);
    return as_analyse_trace(&out->trace, &watch, &out->analysis, err);
}

static uint64_t damage_of(const struct as_trace *trace)
{
    uint64_t damaged_n = 0;
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->thread, stream)
            damaged_n += as_trace_stream_facts(*stream)->damaged_n;
    return damaged_n;
}

/* The other processes report their damaged blocks with their results. If a part needs one walk
 * through all processes, this process does that walk. */
static int analyse_together(struct as_traced *out, struct as_party *party, struct as_error *err)
{
    struct as_trace_part part = {0};
    const uint64_t before_n = damage_of(&out->trace);
    int rc = as_traced_read_part(&out->trace, party, &part, err);
    out->counted_twice_n = part.is_for_one ? damage_of(&out->trace) - before_n : 0;
    if (rc == 0 && part.is_for_one)
        rc = analyse_alone(out, err);
    else if (rc == 0)
        rc = as_part_gather(&part, out, err);
    out->is_gathered = !part.is_for_one;
    as_part_fini(&part);
    return rc;
}

int as_traced_analyse(struct as_traced *out, struct as_party *party, struct as_error *err)
{
    if (as_traced_begin(out, &out->trace) < 0)
        return as_error_nomem(err, "the time line of a trace");
    const bool together = party && as_part_is_possible(&out->trace);
    AS_TRY(together ? analyse_together(out, party, err) : analyse_alone(out, err));
    as_counters_sort(&out->counters);
    as_exchanges_sort(&out->exchanges);
    sum_size_waits(out);
    AS_TRY(as_wait_sums_of(&out->analysis, &out->sums, err));
    return as_timeline_finish(&out->timeline, &out->analysis) < 0
               ? as_error_nomem(err, "what a trace says")
               : 0;
}

static int read_traced(struct as_experiment *experiment, int64_t run_id, struct as_party *party,
                       const struct as_range_wanted *wanted, struct as_traced *out,
                       struct as_error *err)
{
    char path[4096 + 8];
    bool uses_counter = true;
    *out = (struct as_traced){.record_ns = (double)NAN};
    AS_TRY(run_trace_directory(experiment, run_id, path, err));
    AS_TRY(as_trace_open(path, &out->trace, err));
    if (wanted)
        AS_TRY(as_range_find(&out->trace, wanted, &out->range, err));
    out->is_ranged = wanted && as_interest_is_part(&out->range);
    AS_TRY(as_traced_analyse(out, party, err));
    if (out->is_ranged && out->analysis.begin_ns >= out->analysis.end_ns)
        return as_range_empty(out->analysis.whole.end_ns - out->analysis.whole.begin_ns, err);
    AS_TRY(as_traced_simulate(out, path, err));
    count_losses(out, &uses_counter);
    *strrchr(path, '/') = 0;
    out->record_ns = as_trace_record_ns(path, uses_counter);
    return 0;
}

int as_traced_read(struct as_experiment *experiment, int64_t run_id, struct as_party *party,
                   struct as_traced *out, struct as_error *err)
{
    return read_traced(experiment, run_id, party, NULL, out, err);
}

int as_traced_read_range(struct as_experiment *experiment, int64_t run_id,
                         const struct as_range_wanted *wanted, struct as_traced *out,
                         struct as_error *err)
{
    return read_traced(experiment, run_id, NULL, wanted, out, err);
}

void as_traced_fini(struct as_traced *traced)
{
    as_wait_sums_fini(&traced->sums);
    as_analysis_fini(&traced->analysis);
    as_timeline_fini(&traced->timeline);
    as_exchanges_fini(&traced->exchanges);
    as_counters_fini(&traced->counters);
    as_vec_foreach (&traced->gaps, gaps)
        as_vec_fini(&gaps->gap);
    as_vec_fini(&traced->gaps);
    as_sampled_fini(&traced->sampled);
    as_trace_close(&traced->trace);
}

double as_traced_cost_ns(const struct as_traced *traced)
{
    return (double)traced->analysis.events_n * traced->record_ns;
}

double as_traced_cost_most_ns(const struct as_traced *traced)
{
    uint64_t most = 0;
    as_vec_foreach (&traced->analysis.location, location)
        most = location->events_n > most ? location->events_n : most;
    return (double)most * traced->record_ns;
}
