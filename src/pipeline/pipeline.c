/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of passes, the plan drawn from it, and running the plan. A new analysis is one row of
 * the table and the function that calls it.
 */
#include <string.h>
#include <time.h>

#include <assay/advise.h>
#include <assay/catalogue.h>
#include <assay/pipeline.h>
#include <assay/quality.h>

#include "base/error.h"

struct job {
    struct assay_experiment *experiment;
    struct assay_catalogue *catalogue;
    int64_t run_id;
    const struct assay_pipeline_request *request;
    struct assay_pipeline_result *result;
};

/* ---- The passes ---------------------------------------------------------------------------- */

static int profile(struct job *job, struct assay_error *err)
{
    struct assay_profile_request request = job->request->profile;
    int rc;

    request.attribute.catalogue = job->catalogue;
    request.attribute.progress = job->request->progress;
    request.attribute.context = job->request->context;
    rc = assay_profile_run(job->experiment, &request, &job->result->profile, err);
    job->run_id = job->result->profile.run_id;
    return rc;
}

static int quality(struct job *job, struct assay_error *err)
{
    const struct assay_quality_options options = {.catalogue = job->catalogue,
                                                  .share = job->request->share,
                                                  .progress = job->request->progress,
                                                  .context = job->request->context};

    return assay_quality_run(job->experiment, job->run_id, &options, err);
}

static int advise(struct job *job, struct assay_error *err)
{
    return assay_advise_run(job->experiment, job->run_id, err);
}

/* Facts that passes need and make: bits, so that the plan is a matter of sets. */
enum fact {
    SAMPLES = 1 << 0, /* attributed samples and their sums */
    CODE = 1 << 1,    /* values of hot loops and functions */
    ADVICE = 1 << 2   /* global metrics, what-ifs, checks, findings */
};

static const struct pass {
    const char *name, *stage;
    int level; /* the lowest that has it */
    unsigned needs, makes;
    unsigned uses; /* taken into account where it is there: goes after who makes it */
    int (*run)(struct job *job, struct assay_error *err);
} passes[] = {
    {"profile", "profile", ASSAY_PIPELINE_ONE, 0, SAMPLES, 0, profile},
    {"quality", "hot code", ASSAY_PIPELINE_ONE, SAMPLES, CODE, 0, quality},
    {"advise", "advice", ASSAY_PIPELINE_ONE, SAMPLES, ADVICE, CODE, advise},
};
#define PASS_N (sizeof passes / sizeof *passes)

/* ---- The plan ------------------------------------------------------------------------------ */

/* Whether every fact of `facts` that some pass of the plan makes has been made. */
static bool is_ready(const bool *is_planned, const bool *is_placed, unsigned facts)
{
    for (size_t i = 0; i < PASS_N; i++)
        if (is_planned[i] && !is_placed[i] && (passes[i].makes & facts))
            return false;
    return true;
}

/* Passes of the level, each behind those that make what it needs or uses. */
static size_t make_plan(int level, unsigned there, const struct pass **plan)
{
    bool is_planned[PASS_N], is_placed[PASS_N] = {false};
    size_t n = 0, before;

    for (size_t i = 0; i < PASS_N; i++)
        is_planned[i] = passes[i].level <= level && (passes[i].makes & ~there);
    do {
        before = n;
        for (size_t i = 0; i < PASS_N; i++) {
            if (!is_planned[i] || is_placed[i] ||
                !is_ready(is_planned, is_placed, passes[i].needs | passes[i].uses))
                continue;
            is_placed[i] = true;
            plan[n++] = &passes[i];
        }
    } while (n > before);
    return n;
}

/* ---- Running it ---------------------------------------------------------------------------- */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int account(const struct job *job, const struct pass *pass, int64_t wall_ns, int64_t cpu_ns,
                   struct assay_error *err)
{
    char part[32] = "pass ";
    const struct assay_row_overhead row = {.run_id = job->run_id,
                                           .part = strncat(part, pass->name, sizeof part - 6),
                                           .wall_ns = assay_known(wall_ns),
                                           .cpu_ns = assay_known(cpu_ns),
                                           .origin = "measured"};

    return assay_experiment_add_overhead(job->experiment, &row, NULL, err);
}

static int run_pass(struct job *job, const struct pass *pass, struct assay_error *err)
{
    struct assay_pass_result *out = &job->result->pass[job->result->pass_n++];
    const int64_t wall = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

    out->name = pass->name;
    out->code = pass->run(job, &out->error);
    const int64_t wall_ns = clock_ns(CLOCK_MONOTONIC) - wall;
    out->wall_s = (double)wall_ns / 1e9;
    if (out->code < 0) {
        *err = out->error;
        return out->code;
    }
    /* The profile keeps its own account: its wall time is the program's. */
    return pass->run == profile
               ? 0
               : account(job, pass, wall_ns, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu, err);
}

static int run_plan(struct job *job, unsigned there, struct assay_error *err)
{
    const struct pass *plan[PASS_N];
    const int level = job->request->level ? job->request->level : ASSAY_PIPELINE_ONE;
    const size_t n = make_plan(level, there, plan);
    int rc = 0;

    for (size_t i = 0; i < n; i++) {
        if ((plan[i]->needs & there) != plan[i]->needs)
            continue; /* who makes it has failed */
        if (job->request->progress)
            job->request->progress(job->request->context, plan[i]->stage, i, n);
        if (run_pass(job, plan[i], err) == 0)
            there |= plan[i]->makes;
        else if (plan[i]->run == profile)
            rc = job->result->pass[job->result->pass_n - 1].code;
    }
    return rc;
}

/* All passes of the call speak of one catalogue. */
static int run_with_catalogue(struct job *job, unsigned there, struct assay_error *err)
{
    const struct assay_attribute_options *attribute = &job->request->profile.attribute;
    const struct assay_catalogue_options how = {.jobs = attribute->jobs, .open = attribute->open};
    struct assay_catalogue *own = NULL;
    int rc;

    job->result->pass_n = 0;
    if (!attribute->catalogue)
        AS_TRY(assay_catalogue_new(job->experiment, &how, &own, err));
    job->catalogue = own ? own : attribute->catalogue;
    rc = run_plan(job, there, err);
    assay_catalogue_free(&own);
    return rc;
}

int assay_pipeline_run(struct assay_experiment *experiment,
                       const struct assay_pipeline_request *request,
                       struct assay_pipeline_result *result, struct assay_error *err)
{
    struct job job = {.experiment = experiment, .request = request, .result = result};

    return run_with_catalogue(&job, 0, err);
}

int assay_pipeline_again(struct assay_experiment *experiment, int64_t run_id,
                         const struct assay_pipeline_request *request,
                         struct assay_pipeline_result *result, struct assay_error *err)
{
    struct job job = {
        .experiment = experiment, .run_id = run_id, .request = request, .result = result};

    return run_with_catalogue(&job, SAMPLES, err);
}
