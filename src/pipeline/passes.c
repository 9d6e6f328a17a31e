/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of passes. A new analysis is one row and the function that calls it. The facts
 * that a row names connect it to other passes:
 *   samples:   attributed samples of the run, and their sums;
 *   counts:    executed instructions of hot functions;
 *   instances: times of the instances of hot loops;
 *   waits:     wait states and their causes, from a trace;
 *   variants:  times of loops without arithmetic, memory, ...;
 *   code:      values of hot loops and functions;
 *   trust:     consistency of counts, instances and the model;
 *   advice:    global metrics, what-ifs, checks, findings.
 */
#include "pipeline/passes.h"

#include "advise/advise.h"
#include "analytics/analytics.h"
#include "count/count.h"
#include "decan/decan.h"
#include "quality/quality.h"
#include "trust/trust.h"
#include "vprof/vprof.h"

static int pass_profile(struct as_pass_job *job, struct as_error *err)
{
    struct as_campaign_run run = {.profile = job->request->profile};
    int rc;

    run.profile.attribute.catalogue = job->catalogue;
    run.profile.attribute.progress = job->request->progress;
    run.profile.attribute.context = job->request->context;
    rc = as_campaign_run(job->campaign, job->experiment, &run, &job->result->profile, err);
    job->run_id = job->result->profile.run_id;
    return rc;
}

/* Returns true if the user stopped the first run: no further run starts then. */
static bool was_ended(const struct as_pass_job *job)
{
    return job->result->profile.interrupted || job->result->profile.stopped;
}

static int pass_count(struct as_pass_job *job, struct as_error *err)
{
    struct as_count_request request = {.profile = job->request->profile};
    struct as_count_result result = {0};

    request.profile.attribute.catalogue = job->catalogue;
    const int rc = was_ended(job) ? 0
                                  : as_count_again(job->experiment, job->run_id, job->campaign,
                                                   &request, &result, err);
    as_count_result_fini(&result);
    return rc;
}

static int pass_instances(struct as_pass_job *job, struct as_error *err)
{
    struct as_vprof_request request = {
        .profile = job->request->profile, .loops = job->request->loops, .joins = job->is_again};
    struct as_vprof_result result = {0};

    request.profile.attribute.catalogue = job->catalogue;
    const int rc = was_ended(job) ? 0
                                  : as_vprof_again(job->experiment, job->run_id, job->campaign,
                                                   &request, &result, err);
    as_vprof_result_fini(&result);
    return rc;
}

static int pass_trace(struct as_pass_job *job, struct as_error *err)
{
    struct as_profile_request profile = job->request->profile;
    int64_t traced_id = 0;

    profile.attribute.catalogue = job->catalogue;
    return was_ended(job) ? 0
                          : as_analytics_again(job->experiment, job->run_id, job->campaign,
                                               &profile, &traced_id, err);
}

#define TWO_OVERHEAD 0.5 /* limit for a run of level two, as a share of the program's own time */

/* Runs the variants of loops. Level two measures only the gain of data in L1. */
static int pass_variants(struct as_pass_job *job, struct as_error *err)
{
    struct as_decan_request request = {
        .profile = job->request->profile,
        .loops = job->request->loops,
        .variants = job->request->level == AS_PIPELINE_TWO ? "dl1" : NULL,
        .max_overhead = job->request->level == AS_PIPELINE_TWO ? TWO_OVERHEAD : 0,
        .runs = job->request->level == AS_PIPELINE_TWO ? 1 : 0};
    struct as_decan_result result = {0};

    request.profile.attribute.catalogue = job->catalogue;
    const int rc = was_ended(job) ? 0
                                  : as_decan_again(job->experiment, job->run_id, job->campaign,
                                                   &request, &result, err);
    as_decan_result_fini(&result);
    return rc;
}

static int aside(void *job, int (*work)(void *context, struct as_error *err), void *context,
                 struct as_error *err)
{
    return as_pass_aside(job, work, context, err);
}

static int pass_quality(struct as_pass_job *job, struct as_error *err)
{
    const struct as_quality_options options = {.catalogue = job->catalogue,
                                               .share = job->request->share,
                                               .progress = job->request->progress,
                                               .context = job->request->context,
                                               .aside = aside,
                                               .aside_context = job};

    return as_quality_run(job->experiment, job->run_id, &options, err);
}

static int pass_trust(struct as_pass_job *job, struct as_error *err)
{
    return as_trust_run(job->experiment, job->run_id, err);
}

static int pass_advise(struct as_pass_job *job, struct as_error *err)
{
    return as_advise_run(job->experiment, job->run_id, err);
}

const struct as_pass as_passes[] = {
    {.name = "profile",
     .stage = "profile",
     .level = AS_PIPELINE_ONE,
     .makes = AS_PASS_SAMPLES,
     .starts = true,
     .run = pass_profile},
    {.name = "count",
     .stage = "counts",
     .level = AS_PIPELINE_ONE,
     .needs = AS_PASS_SAMPLES,
     .makes = "counts",
     .starts = true,
     .run = pass_count,
     .more = AS_PIPELINE_COUNT},
    {.name = "vprof",
     .stage = "instances of loops",
     .level = AS_PIPELINE_ONE,
     .needs = AS_PASS_SAMPLES,
     .makes = "instances",
     .starts = true,
     .run = pass_instances,
     .more = AS_PIPELINE_INSTANCES},
    {.name = "trace",
     .stage = "wait states",
     .level = AS_PIPELINE_ONE,
     .needs = AS_PASS_SAMPLES,
     .makes = "waits",
     .starts = true,
     .run = pass_trace,
     .more = AS_PIPELINE_TRACE},
    {.name = "quality",
     .stage = "hot code",
     .level = AS_PIPELINE_ONE,
     .needs = AS_PASS_SAMPLES,
     .uses = "counts",
     .makes = "code",
     .run = pass_quality},
    {.name = "decan",
     .stage = "variants of loops",
     .level = AS_PIPELINE_TWO,
     .needs = AS_PASS_SAMPLES,
     .uses = "counts instances code",
     .makes = "variants",
     .starts = true,
     .run = pass_variants},
    {.name = "trust",
     .stage = "trust",
     .level = AS_PIPELINE_ONE,
     .needs = AS_PASS_SAMPLES,
     .uses = "counts instances code",
     .makes = "trust",
     .run = pass_trust},
    {.name = "advise",
     .stage = "advice",
     .level = AS_PIPELINE_ONE,
     .needs = AS_PASS_SAMPLES,
     .uses = "code trust variants waits",
     .makes = "advice",
     .run = pass_advise},
};
const size_t as_pass_n = sizeof as_passes / sizeof *as_passes;
