/* SPDX-License-Identifier: Apache-2.0 */
/* Writes flags of the run for parts that are missing in its trace, with the reason. */
#include <string.h>

#include "analytics/store/facts.h"
#include "base/error.h"

/* How streams ended. */
struct stream_ends {
    uint64_t limited_n, refused_n, overwritten_n;
    int64_t stopped_ns; /* when the first of those that were limited or refused stopped */
    int64_t kept_ns;    /* since when all that were overwritten are there */
    int refusal;        /* why, an errno */
};

static void note_end(struct stream_ends *ends, const struct as_trace_stream *stream,
                     const struct as_location *location)
{
    const struct as_trace_stream_facts *f = as_trace_stream_facts(stream);
    const int64_t kept_ns = as_trace_stream_kept_ns(stream);
    const bool is_stopped = f->end == AS_TRACE_LIMIT || f->end == AS_TRACE_REFUSED;
    ends->limited_n += f->end == AS_TRACE_LIMIT;
    ends->refused_n += f->end == AS_TRACE_REFUSED;
    if (f->end == AS_TRACE_REFUSED)
        ends->refusal = f->end_errno;
    if (is_stopped && location->span.end_ns < ends->stopped_ns)
        ends->stopped_ns = location->span.end_ns;
    if (f->overwritten_n == 0)
        return;
    ends->overwritten_n++;
    if (kept_ns > ends->kept_ns)
        ends->kept_ns = kept_ns;
}

static struct stream_ends ends_of(const struct as_traced *traced)
{
    struct stream_ends ends = {.stopped_ns = INT64_MAX, .kept_ns = INT64_MIN};
    as_vec_foreach (&traced->analysis.location, location) {
        const struct as_trace_process *process = &traced->trace.process.at[location->process];
        note_end(&ends, process->thread.at[location->thread], location);
    }
    return ends;
}

static int flag_run(const struct as_trace_facts *f, const char *name, uint64_t n,
                    const struct as_str *text, struct as_error *err)
{
    const struct as_flag flag = {.run_id = f->run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = f->run_id,
                                 .name = name,
                                 .text = as_str_z(text),
                                 .n = (int64_t)n,
                                 .pass = AS_ANALYTICS_PASS};
    if (text->failed)
        return as_error_nomem(err, "what a trace lacks");
    return n ? as_experiment_flag(f->experiment, &flag, err) : 0;
}

static double seconds_of(const struct as_trace_facts *f, int64_t ns)
{
    return (double)(ns - f->traced->analysis.begin_ns) / 1e9;
}

static const char *threads_are(uint64_t n)
{
    return n == 1 ? "thread is" : "threads are";
}

static int flag_limited(const struct as_trace_facts *f, const struct stream_ends *ends,
                        struct as_str *text, struct as_error *err)
{
    if (ends->limited_n == 0)
        return 0;
    as_str_clear(text);
    as_str_appendf(text,
                   "the trace reached its size limit: %llu %s recorded in part, at least one only "
                   "until %.3f s; raise --limit",
                   (unsigned long long)ends->limited_n, threads_are(ends->limited_n),
                   seconds_of(f, ends->stopped_ns));
    return flag_run(f, "trace_limited", ends->limited_n, text, err);
}

static int flag_refused(const struct as_trace_facts *f, const struct stream_ends *ends,
                        struct as_str *text, struct as_error *err)
{
    if (ends->refused_n == 0)
        return 0;
    as_str_clear(text);
    as_str_appendf(text,
                   "the trace could not go on (%s): %llu %s recorded in part, at least one only "
                   "until %.3f s",
                   strerror(ends->refusal), (unsigned long long)ends->refused_n,
                   threads_are(ends->refused_n), seconds_of(f, ends->stopped_ns));
    return flag_run(f, "trace_refused", ends->refused_n, text, err);
}

static int flag_ring(const struct as_trace_facts *f, const struct stream_ends *ends,
                     struct as_str *text, struct as_error *err)
{
    if (ends->overwritten_n == 0)
        return 0;
    as_str_clear(text);
    as_str_appendf(text,
                   "the trace is a ring: what %llu %s before %.3f s was overwritten at least in "
                   "part, so MPI has no wait states; raise --ring",
                   (unsigned long long)ends->overwritten_n,
                   ends->overwritten_n == 1 ? "thread did" : "threads did",
                   seconds_of(f, ends->kept_ns));
    return flag_run(f, "trace_ring", ends->overwritten_n, text, err);
}

static int flag_ends(const struct as_trace_facts *f, struct as_str *text, struct as_error *err)
{
    const struct stream_ends ends = ends_of(f->traced);
    AS_TRY(flag_limited(f, &ends, text, err));
    AS_TRY(flag_refused(f, &ends, text, err));
    return flag_ring(f, &ends, text, err);
}

static int flag_off(const struct as_trace_facts *f, struct as_str *text, struct as_error *err)
{
    const struct as_analysis *a = &f->traced->analysis;
    int64_t off_ns = 0, there_ns = 0;
    uint64_t n = 0;
    for (size_t i = 0; i < a->location.n; i++) {
        there_ns += a->location.at[i].span.end_ns - a->location.at[i].span.begin_ns;
        as_vec_foreach (&f->traced->gaps.at[i].gap, gap) {
            const bool is_switched = gap->why != AS_GAP_OVERWRITTEN;
            n += is_switched ? gap->n : 0;
            off_ns += is_switched ? gap->off_ns : 0;
        }
    }
    as_str_clear(text);
    as_str_appendf(text,
                   "tracing was off for %.1f %% of the time of all threads; shares refer to the "
                   "recorded time",
                   there_ns > 0 ? 100 * (double)off_ns / (double)there_ns : 0.0);
    return flag_run(f, "trace_off", n, text, err);
}

static int flag_rest(const struct as_trace_facts *f, struct as_str *text, struct as_error *err)
{
    const struct as_traced *traced = f->traced;
    as_str_clear(text);
    as_str_appendz(text, "MPI calls are summed (--burst): there are no wait states; thread states "
                         "and efficiency count all calls");
    AS_TRY(flag_run(f, "trace_bursts", traced->analysis.summed_n, text, err));
    as_str_clear(text);
    as_str_appendz(text, "calls were left out by the filter; their time counts as computation of "
                         "the program");
    AS_TRY(flag_run(f, "trace_filtered", traced->filtered_n, text, err));
    as_str_clear(text);
    as_str_appendz(text, "events were not written, or blocks of the trace were not readable: "
                         "their data are missing");
    return flag_run(f, "trace_lost", traced->lost_n + traced->damaged_n, text, err);
}

/* The analysis is of a part of the trace. */
static int flag_range(const struct as_trace_facts *f, struct as_str *text, struct as_error *err)
{
    const struct as_analysis *a = &f->traced->analysis;
    as_str_clear(text);
    as_str_appendf(text, "the analysis covers %.3f s to %.3f s of a trace of %.3f s",
                   (double)(a->begin_ns - a->whole.begin_ns) / 1e9,
                   (double)(a->end_ns - a->whole.begin_ns) / 1e9,
                   (double)(a->whole.end_ns - a->whole.begin_ns) / 1e9);
    return flag_run(f, "trace_range", f->traced->is_ranged, text, err);
}

int as_trace_partial(const struct as_trace_facts *facts, struct as_error *err)
{
    struct as_str text = {0};
    int rc = flag_range(facts, &text, err);
    if (rc == 0)
        rc = flag_ends(facts, &text, err);
    if (rc == 0)
        rc = flag_off(facts, &text, err);
    if (rc == 0)
        rc = flag_rest(facts, &text, err);
    as_str_fini(&text);
    return rc;
}
