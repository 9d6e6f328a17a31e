/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the samples of a run come from; see source.h. Which of the two it is can only be known by
 * trying: a child is started, its events are asked for, and when they are refused another child is
 * started with the timers' library preloaded. Nothing of the program has run by then.
 */
#include "profile/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* ---- Events of the kernel ------------------------------------------------------------------ */

static int open_events(struct as_source *source, const struct assay_profile_request *request,
                       pid_t pid, bool on_exec, struct assay_error *err)
{
    struct assay_sample_options options = request->sampling;
    options.on_exec = on_exec;
    options.switches = options.waits = true;
    return assay_sampler_open(pid, &options, &source->sampler, err);
}

/* Whether any are to be had. */
static bool events_of_ours(void)
{
    struct assay_sampler *sampler;
    struct assay_error ignored;
    const bool any = assay_sampler_open(getpid(), NULL, &sampler, &ignored) == 0;
    assay_sampler_close(&sampler);
    return any;
}

static int attach(struct as_source *source, const struct assay_profile_request *request,
                  struct assay_launch **launch, struct assay_error *err)
{
    if (request->sampling.event == ASSAY_EVENT_TIMER)
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "process %d: runs already, and timers are put into a program when it "
                            "starts; let assay start it, or sample by another event",
                            (int)request->pid);
    AS_TRY(assay_launch_attach(request->pid, launch, err));
    const int rc = open_events(source, request, request->pid, false, err);
    /* Refused for this process, or at all? Then there is another way than to ask the administrator.
     */
    if ((rc == ASSAY_ERR_PERMISSION || rc == ASSAY_ERR_UNSUPPORTED) && !events_of_ours()) {
        const struct assay_error why = *err;
        as_error_set(err, rc, "%s; a program that assay starts is sampled by timers instead",
                     why.text);
    }
    return rc;
}

/* What a temporary directory of ours is called. */
#define DIRECTORY "assay-agent-"

/* ---- Timers -------------------------------------------------------------------------------- */

static const char *place_of(const struct as_source *source)
{
    const char *place = getenv("TMPDIR");
    const bool usable = place && place[0] == '/' && strlen(place) <= sizeof source->directory - 32;
    return usable ? place : "/tmp";
}

/* On a local disk, where the program's user can write: not beside the experiment, which may be on a
 * file system of the network. */
static int make_directory(struct as_source *source, struct assay_error *err)
{
    const char *place = place_of(source);
    snprintf(source->directory, sizeof source->directory, "%s/" DIRECTORY "XXXXXX", place);
    if (mkdtemp(source->directory))
        return 0;
    source->directory[0] = 0;
    return as_error_set(err, ASSAY_ERR_IO,
                        "%s: no directory for timers can be made there: %s; set TMPDIR to one that "
                        "can be written",
                        place, strerror(errno));
}

/* `why`: of no perf events; NULL: timers are what was asked for. */
static int start_timed(struct as_source *source, const struct assay_profile_request *request,
                       const struct assay_launch_plan *plan, const char *why,
                       struct assay_launch **launch, struct assay_error *err)
{
    AS_TRY(make_directory(source, err));
    AS_TRY(
        assay_timer_sampler_open(source->directory, &request->sampling, why, &source->timers, err));
    const struct assay_launch_options options = {
        .environment = assay_timer_sampler_environment(source->timers),
        .preload = assay_timer_sampler_preload(source->timers)};
    AS_TRY(assay_launch_start(plan, &options, launch, err));
    if (request->sampling.no_children)
        assay_timer_sampler_only(source->timers, assay_launch_pid(*launch));
    return 0;
}

/* Perf events are refused to this program; of the two reasons for no samples both are said. */
static int start_without_events(struct as_source *source,
                                const struct assay_profile_request *request,
                                const struct assay_launch_plan *plan, struct assay_launch **launch,
                                struct assay_error *err)
{
    const struct assay_error why = *err;
    struct assay_error not ;
    const int rc = assay_timer_sampler_check(plan->path, &not );
    if (rc < 0)
        return as_error_set(err, rc, "%s: %s", not .text, why.text);
    assay_launch_close(launch);
    return start_timed(source, request, plan, why.text, launch, err);
}

/* ---- Both ---------------------------------------------------------------------------------- */

int as_source_open(struct as_source *source, const struct assay_profile_request *request,
                   const struct assay_launch_plan *plan, struct assay_launch **launch,
                   struct assay_error *err)
{
    *launch = NULL;
    *source = (struct as_source){0};
    if (!plan)
        return attach(source, request, launch, err);
    assay_timer_sampler_sweep(place_of(source), DIRECTORY);
    if (request->sampling.event == ASSAY_EVENT_TIMER) {
        AS_TRY(assay_timer_sampler_check(plan->path, err));
        return start_timed(source, request, plan, NULL, launch, err);
    }
    AS_TRY(assay_launch_start(plan, NULL, launch, err));
    const int rc = open_events(source, request, assay_launch_pid(*launch), true, err);
    if ((rc != ASSAY_ERR_PERMISSION && rc != ASSAY_ERR_UNSUPPORTED) ||
        request->sampling.stacks == ASSAY_STACKS_LBR) /* which timers have not */
        return rc;
    return start_without_events(source, request, plan, launch, err);
}

void as_source_close(struct as_source *source)
{
    assay_sampler_close(&source->sampler);
    assay_timer_sampler_close(&source->timers);
    if (source->directory[0])
        rmdir(source->directory);
    source->directory[0] = 0;
}

const struct assay_sample_choice *as_source_choice(const struct as_source *source)
{
    return source->timers ? assay_timer_sampler_choice(source->timers)
                          : assay_sampler_choice(source->sampler);
}

const struct assay_sample_counts *as_source_counts(const struct as_source *source)
{
    return source->timers ? assay_timer_sampler_counts(source->timers)
                          : assay_sampler_counts(source->sampler);
}

const struct assay_timer_facts *as_source_facts(const struct as_source *source)
{
    return source->timers ? assay_timer_sampler_facts(source->timers) : NULL;
}

bool as_source_wait(struct as_source *source, int other_fd, int timeout_ms)
{
    return source->timers ? assay_timer_sampler_wait(source->timers, other_fd, timeout_ms)
                          : assay_sampler_wait(source->sampler, other_fd, timeout_ms);
}

int as_source_enable(struct as_source *source, bool on, struct assay_error *err)
{
    return source->timers ? assay_timer_sampler_enable(source->timers, on, err)
                          : assay_sampler_enable(source->sampler, on, err);
}

int as_source_pump(struct as_source *source, bool last, assay_sample_sink *sink, void *context,
                   struct assay_error *err)
{
    return source->timers ? assay_timer_sampler_pump(source->timers, last, sink, context, err)
                          : assay_sampler_pump(source->sampler, last, sink, context, err);
}
