/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collector of timers inside the program. They sample if the kernel refuses perf events, or on
 * request. Their library is preloaded, so assay must start the program.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "profile/collector.h"
#include "profile/timers.h"

static bool timers_are_wanted(const struct as_collection *all)
{
    return all->request->sampling.event == AS_EVENT_TIMER;
}

static bool timers_may_replace(const struct as_collection *all)
{
    return all->request->sampling.stacks != AS_STACKS_LBR; /* timers have no LBR */
}

/* ---- Beginning ----------------------------------------------------------------------------- */

static void tidy_timers(const struct as_collection *all)
{
    if (all->plan)
        as_timer_sampler_sweep(as_collection_place(), AS_TIMERS_PREFIX);
}

/* Checks that the program can be sampled by timers. The message also has the reason `why` the
 * kernel refused perf events. */
static int check_program(const struct as_collection *all, const struct as_error *why,
                         struct as_error *err)
{
    struct as_error not ;
    if (!all->plan)
        return as_error_set(err, AS_ERR_USAGE,
                            "process %d: timers cannot be added to a running process; run the "
                            "program with assay, or use another --event",
                            (int)all->request->pid);
    const int rc = as_timer_sampler_check(all->plan->path, &not );
    if (rc < 0 && why)
        return as_error_set(err, rc, "%s: %s", not .text, why->text);
    if (rc < 0 && err)
        *err = not ;
    return rc;
}

static int prepare_timers(struct as_collector *it, const struct as_collection *all,
                          const struct as_error *why, struct as_error *err)
{
    struct as_timers *timers;
    AS_TRY(check_program(all, why, err));
    it->self = timers = as_calloc(1, sizeof *timers);
    if (!timers)
        return as_error_nomem(err, "timers");
    AS_TRY(as_timers_open(all, why, timers, err));
    it->environment = as_timer_sampler_environment(timers->sampler);
    it->preload = as_timer_sampler_preload(timers->sampler);
    return 0;
}

static int open_timers(struct as_collector *it, const struct as_collection *all,
                       struct as_error *err)
{
    const struct as_timers *timers = it->self;
    (void)err;
    if (all->request->sampling.no_children)
        as_timer_sampler_only(timers->sampler, as_launch_pid(all->launch));
    return 0;
}

/* ---- Recording ----------------------------------------------------------------------------- */

static bool wait_for_timers(struct as_collector *it, int other_fd, int timeout_ms)
{
    const struct as_timers *timers = it->self;
    return as_timer_sampler_wait(timers->sampler, other_fd, timeout_ms);
}

static int pump_timers(struct as_collector *it, struct as_collection *all, bool last,
                       struct as_error *err)
{
    const struct as_timers *timers = it->self;
    return as_timer_sampler_pump(timers->sampler, last, as_collection_hand, all, err);
}

static int stop_timers(struct as_collector *it, struct as_error *err)
{
    const struct as_timers *timers = it->self;
    return as_timer_sampler_enable(timers->sampler, false, err);
}

/* ---- The end ------------------------------------------------------------------------------- */

/* Records missed threads and processes, for the flags. */
static int write_missed_timers(struct as_collector *it, const struct as_collection *all,
                               struct as_error *err)
{
    const struct as_timers *timers = it->self;
    const struct as_timer_facts *facts = as_timer_sampler_facts(timers->sampler);
    char text[256];
    const struct {
        const char *name;
        uint64_t n;
    } missed[] = {{"threads_missed", facts->threads_missed},
                  {"processes_missed", facts->processes_missed},
                  {"incomplete", facts->incomplete},
                  {"short_threads", facts->short_threads},
                  {"short_threads_ns", facts->short_threads_ns}};
    for (size_t i = 0; i < sizeof missed / sizeof *missed; i++) {
        snprintf(text, sizeof text, "%" PRIu64, missed[i].n);
        if (missed[i].n)
            AS_TRY(as_recorder_info(all->recorder, missed[i].name, text, err));
    }
    if (all->request->sampling.stacks == AS_STACKS_DWARF)
        AS_TRY(as_timers_write_python(timers, all, false, err));
    if (!facts->missed_errno)
        return 0;
    return as_recorder_info(all->recorder, "missed_why",
                            as_timers_why(facts->missed_errno, text, sizeof text), err);
}

static void close_timers(struct as_collector *it)
{
    struct as_timers *timers = it->self;
    if (timers)
        as_timers_close(timers);
    as_free(timers);
}

static const struct as_sample_choice *choice_of_timers(const struct as_collector *it)
{
    const struct as_timers *timers = it->self;
    return as_timer_sampler_choice(timers->sampler);
}

static const struct as_sample_counts *counts_of_timers(const struct as_collector *it)
{
    const struct as_timers *timers = it->self;
    return as_timer_sampler_counts(timers->sampler);
}

static struct as_agent_session *session_of_timers(const struct as_collector *it)
{
    const struct as_timers *timers = it->self;
    return timers->sampler ? as_timer_session(timers->sampler) : NULL;
}

extern const struct as_collector_kind as_collector_timers;
const struct as_collector_kind as_collector_timers = {.name = "timers",
                                                      .instead_of = "perf",
                                                      .may_replace = timers_may_replace,
                                                      .is_wanted = timers_are_wanted,
                                                      .tidy = tidy_timers,
                                                      .prepare = prepare_timers,
                                                      .open = open_timers,
                                                      .wait = wait_for_timers,
                                                      .pump = pump_timers,
                                                      .stop = stop_timers,
                                                      .finish = write_missed_timers,
                                                      .close = close_timers,
                                                      .choice = choice_of_timers,
                                                      .counts = counts_of_timers,
                                                      .session = session_of_timers};
