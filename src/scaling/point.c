/* SPDX-License-Identifier: Apache-2.0 */
#include "scaling/point.h"

#include <math.h>
#include <stdio.h>

#include "analytics/state/analysis.h"
#include "base/error.h"
#include "simulate/ideal.h"

static void count_members(const struct as_analysis *a, const struct as_trace *trace,
                          struct as_scaling_point *out)
{
    as_vec_foreach (&trace->process, process)
        out->rank_n += process->rank >= 0;
    as_vec_foreach (&a->location, location)
        out->thread_n += !location->queue && (out->rank_n == 0 || location->rank >= 0);
}

/* Returns the time outside MPI of a single rank, by the thread with the longest span. */
static double lone_outside_ns(const struct as_analysis *a)
{
    int64_t longest_ns = 0, outside_ns = 0;
    as_vec_foreach (&a->location, location) {
        const int64_t ns = location->span.end_ns - location->span.begin_ns;
        if (location->rank >= 0 && !location->queue && ns > longest_ns) {
            longest_ns = ns;
            outside_ns = ns - location->activity_ns[AS_ACTIVITY_MPI] -
                         location->activity_ns[AS_ACTIVITY_OFF];
        }
    }
    return (double)outside_ns;
}

static void set_shares(const struct as_analysis *a, struct as_scaling_point *out)
{
    const struct as_efficiency *e = &a->efficiency;
    out->elapsed_ns = e->elapsed_ns;
    out->parallel = e->parallel;
    out->useful_ns = e->parallel * e->elapsed_ns * out->thread_n;
    out->startup = out->serialisation = out->transfer = out->threads = (double)NAN;
    if (out->rank_n == 0) {
        out->balance = e->balance;
        out->communication = e->communication;
    } else if (out->rank_n == 1) {
        out->balance = 1;
        out->communication = lone_outside_ns(a) / e->elapsed_ns;
    } else {
        out->balance = e->mpi_balance;
        out->communication = e->mpi_communication;
    }
    if (out->rank_n)
        out->threads = e->parallel / (out->balance * out->communication);
}

/* Simulates the trace for startup, transfer and serialisation. If that fails, the point keeps
 * its other factors. */
static int divide_point(const struct as_trace *trace, struct as_scaling_point *out,
                        struct as_error *err)
{
    struct as_ideal_run run;
    struct as_error why = {0};
    if (out->rank_n == 0)
        return 0;
    const int rc = as_ideal_run_of(trace, NULL, &run, &why);
    if (rc == AS_ERR_NOMEM)
        return as_error_nomem(err, "the simulation of a trace");
    if (rc < 0) {
        snprintf(out->unsimulated, sizeof out->unsimulated, "%.299s", why.text);
        return 0;
    }
    const struct as_ideal_shares shares =
        as_ideal_shares_of(&run, out->elapsed_ns, out->communication * out->elapsed_ns);
    out->startup = shares.startup;
    out->transfer = shares.transfer;
    out->serialisation = shares.serialisation;
    return 0;
}

static int read_point(const struct as_trace *trace, struct as_scaling_point *out,
                      struct as_error *err)
{
    struct as_analysis analysis = {0};
    int rc = as_analyse_trace(trace, NULL, &analysis, err);
    if (rc == 0) {
        count_members(&analysis, trace, out);
        set_shares(&analysis, out);
        if (!(out->elapsed_ns > 0) || !(out->useful_ns > 0))
            rc = as_error_set(err, AS_ERR_UNSUPPORTED,
                              "the trace has no computing time; record another with 'assay trace'");
    }
    as_analysis_fini(&analysis);
    if (rc == 0)
        rc = divide_point(trace, out, err);
    return rc == 0 ? as_scaling_count_useful(trace, &out->instructions, &out->cycles, err) : rc;
}

int as_scaling_point_read(const char *directory, struct as_scaling_point *out, struct as_error *err)
{
    struct as_trace trace = {0};
    *out = (struct as_scaling_point){0};
    int rc = as_trace_open(directory, &trace, err);
    if (rc == 0)
        rc = read_point(&trace, out, err);
    as_trace_close(&trace);
    return rc;
}
