/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a plan, wave by wave. If a wave has several passes, each runs in its own thread. The result
 * says how each pass ended. A pass without a needed fact is skipped.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "pipeline/passes.h"
#include "pipeline/plan.h"
#include "pipeline/turn.h"

/* State of a call. */
struct running {
    struct as_pass_job job; /* passed to later passes */
    struct as_pass_plan plan;
    uint64_t there; /* bits of facts that are known so far */
    size_t done_n;  /* number of finished passes, for progress */
};

/* A pass of the running wave. */
struct started {
    struct as_pass_job job;
    struct as_pipeline_request request; /* copy of the request with our progress callback */
    struct as_pass_turn turn;
    const struct as_step *step;
    struct as_pass_result *out;
    const struct as_pipeline_request *asked;
    int64_t wall_ns, cpu_ns;
    pthread_t thread;
    bool has_thread;
};

/* ---- Passes -------------------------------------------------------------------------------- */

/* Forwards the progress of the first unfinished pass. */
static void show_progress(void *context, const char *stage, uint64_t done, uint64_t total)
{
    struct started *it = context;

    if (as_turn_is_first(&it->turn))
        it->asked->progress(it->asked->context, stage, done, total);
}

static void run_pass(struct started *it)
{
    const int64_t wall = as_monotonic_ns(), cpu = as_clock_ns(CLOCK_PROCESS_CPUTIME_ID);

    as_turn_acquire(&it->turn);
    it->out->code = it->step->pass->run(&it->job, &it->out->error);
    if (it->out->code < 0)
        as_experiment_rollback(it->job.experiment);
    as_turn_leave(&it->turn, AS_TURN_ENDED);
    it->wall_ns = as_monotonic_ns() - wall;
    it->cpu_ns = as_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    it->out->wall_s = (double)it->wall_ns / 1e9;
}

static void *run_in_thread(void *started)
{
    run_pass(started);
    return NULL;
}

/* Stores the cost of a pass. Concurrent passes share the CPU time of the process, so only a pass
 * that ran alone has one. */
static int account(const struct started *it, bool is_alone, struct as_error *err)
{
    char part[64];
    const struct as_row_overhead row = {.run_id = it->job.run_id,
                                        .part = part,
                                        .wall_ns = as_known(it->wall_ns),
                                        .cpu_ns =
                                            is_alone ? as_known(it->cpu_ns) : (struct as_number){0},
                                        .origin = "measured"};

    snprintf(part, sizeof part, "pass %s", it->step->pass->name);
    return as_experiment_add_overhead(it->job.experiment, &row, NULL, err);
}

/* ---- Waves --------------------------------------------------------------------------------- */

static struct as_pass_result *add_result(struct as_pipeline_result *result,
                                         const struct as_pass *pass)
{
    assert(result->pass_n < AS_PIPELINE_PASSES_MAX);
    struct as_pass_result *out = &result->pass[result->pass_n++];

    *out = (struct as_pass_result){.name = pass->name, .stage = pass->stage};
    return out;
}

/* Selects the passes of the wave with all their needs; records the missing fact of the others.
 * Returns the number of selected passes. */
static size_t select_ready_steps(struct running *r, const struct as_step *step, size_t n,
                                 struct as_wave *wave, struct started *all)
{
    size_t started_n = 0;

    for (size_t i = 0; i < n; i++) {
        struct as_pass_result *out = add_result(r->job.result, step[i].pass);
        const uint64_t missing = step[i].needs & ~r->there;

        if (missing) {
            const struct as_view fact = as_plan_fact(&r->plan, missing);

            snprintf(out->missing, sizeof out->missing, "%.*s", (int)fact.n, fact.p);
            continue;
        }
        all[started_n] = (struct started){.job = r->job,
                                          .request = *r->job.request,
                                          .turn = {.wave = wave, .number = started_n},
                                          .step = &step[i],
                                          .asked = r->job.request,
                                          .out = out};
        started_n++;
    }
    return started_n;
}

static void run_wave(struct started *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        all[i].job.turn = &all[i].turn;
        all[i].job.request = &all[i].request;
        if (all[i].asked->progress)
            all[i].request.progress = show_progress;
        all[i].request.context = &all[i];
    }
    for (size_t i = 1; i < n; i++)
        all[i].has_thread = pthread_create(&all[i].thread, NULL, run_in_thread, &all[i]) == 0;
    for (size_t i = 0; i < n; i++)
        if (!all[i].has_thread)
            run_pass(&all[i]);
    for (size_t i = 0; i < n; i++)
        if (all[i].has_thread)
            pthread_join(all[i].thread, NULL);
}

static void end_pass(struct running *r, struct started *it, bool is_alone)
{
    struct as_pass_result *out = it->out;

    if (out->code == 0 && !it->step->pass->starts && it->job.run_id)
        out->code = account(it, is_alone, &out->error);
    if (out->code < 0)
        return;
    r->there |= it->step->makes;
    r->job.run_id = it->job.run_id;
}

/* ---- Pipeline ------------------------------------------------------------------------------ */

/* Returns the number of steps in the wave that starts at step `from`. */
static size_t wave_size(const struct as_pass_plan *plan, size_t from)
{
    size_t n = 1;

    while (from + n < plan->step_n && plan->step[from + n].wave == plan->step[from].wave)
        n++;
    return n;
}

static void run_plan(struct running *r)
{
    const struct as_pipeline_request *request = r->job.request;
    struct started all[AS_PIPELINE_PASSES_MAX];

    for (size_t i = 0, n; i < r->plan.step_n; i += n) {
        struct as_wave wave;

        n = wave_size(&r->plan, i);
        as_wave_init(&wave);
        const size_t started_n = select_ready_steps(r, &r->plan.step[i], n, &wave, all);
        if (started_n && request->progress)
            request->progress(request->context, all[0].step->pass->stage, i, r->plan.step_n);
        run_wave(all, started_n);
        for (size_t k = 0; k < started_n; k++)
            end_pass(r, &all[k], started_n == 1);
        as_wave_fini(&wave);
    }
}

/* Returns the first failure if no pass succeeded, else 0. */
static int judge_passes(const struct as_pipeline_result *result, struct as_error *err)
{
    const struct as_pass_result *failed = NULL;

    for (size_t i = 0; i < result->pass_n; i++) {
        const struct as_pass_result *it = &result->pass[i];

        if (it->code == 0 && !it->missing[0])
            return 0;
        if (it->code < 0 && !failed)
            failed = it;
    }
    if (failed && err)
        *err = failed->error;
    return failed ? failed->code : 0;
}

/* Runs the plan with one catalogue and one campaign for all passes. */
static int run_with_means(struct running *r, struct as_error *err)
{
    const struct as_attribute_options *attribute = &r->job.request->profile.attribute;
    const struct as_catalogue_options how = {.jobs = attribute->jobs, .open = attribute->open};
    struct as_catalogue *own = NULL;

    AS_TRY(as_campaign_open(&r->job.campaign, err));
    int rc = attribute->catalogue ? 0 : as_catalogue_new(r->job.experiment, &how, &own, err);
    r->job.catalogue = own ? own : attribute->catalogue;
    if (rc == 0) {
        run_plan(r);
        rc = judge_passes(r->job.result, err);
    }
    as_catalogue_free(&own);
    as_campaign_close(&r->job.campaign);
    return rc;
}

/* Copies the passes that need no request or were requested. Returns their number. If the table
 * is too long, returns its length, and the plan fails. */
static size_t asked_passes(const struct as_pipeline_request *request, struct as_pass *out)
{
    const struct as_pass *pass = request->pass ? request->pass : as_passes;
    const size_t pass_n = request->pass ? request->pass_n : as_pass_n;
    const unsigned more =
        request->more | (request->level > AS_PIPELINE_ONE ? AS_PIPELINE_INSTANCES : 0u);
    size_t n = 0;

    if (pass_n > AS_PIPELINE_PASSES_MAX)
        return pass_n;
    for (size_t i = 0; i < pass_n; i++)
        if (!(pass[i].more & ~more))
            out[n++] = pass[i];
    return n;
}

static int run_passes(struct as_experiment *experiment, int64_t run_id, const char *there,
                      const struct as_pipeline_request *request, struct as_pipeline_result *result,
                      struct as_error *err)
{
    struct running r = {.job = {.experiment = experiment,
                                .run_id = run_id,
                                .is_again = run_id != 0,
                                .request = request,
                                .result = result}};
    const int level = request->level ? request->level : AS_PIPELINE_ONE;

    result->pass_n = 0;
    struct as_pass pass[AS_PIPELINE_PASSES_MAX];
    const size_t pass_n = asked_passes(request, pass);

    AS_TRY(as_plan_make(pass, pass_n, level, there, &r.plan, err));
    r.there = r.plan.there;
    return run_with_means(&r, err);
}

int as_pipeline_run(struct as_experiment *experiment, const struct as_pipeline_request *request,
                    struct as_pipeline_result *result, struct as_error *err)
{
    return run_passes(experiment, 0, "", request, result, err);
}

int as_pipeline_again(struct as_experiment *experiment, int64_t run_id,
                      const struct as_pipeline_request *request, struct as_pipeline_result *result,
                      struct as_error *err)
{
    return run_passes(experiment, run_id, AS_PASS_SAMPLES, request, result, err);
}
