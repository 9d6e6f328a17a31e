/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collector of perf events of the kernel, which sample from outside (sample/sample.h).
 */
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "profile/collector.h"
#include "profile/depth.h"
#include "profile/timers.h"

struct perf_source {
    struct as_sampler *sampler;
    struct as_depth depth; /* size of stack copies */
};

static bool perf_is_wanted(const struct as_collection *all)
{
    return all->request->sampling.event != AS_EVENT_TIMER;
}

/* Returns true if the kernel permits perf events on this process. */
static bool events_of_ours(void)
{
    struct as_sampler *sampler;
    struct as_error ignored;
    const bool any = as_sampler_open(getpid(), NULL, &sampler, &ignored) == 0;
    as_sampler_close(&sampler);
    return any;
}

static int perf_open(struct as_collector *it, const struct as_collection *all, struct as_error *err)
{
    struct as_sample_options options = all->request->sampling;
    struct perf_source *source = as_calloc(1, sizeof *source);
    if (!source)
        return as_error_nomem(err, "the events of the kernel");
    it->self = source;
    as_depth_begin(&source->depth);
    options.on_exec = all->plan != NULL;
    options.switches = options.waits = true;
    /* The timers beside it have samples in nanoseconds, so perf must use the CPU clock. */
    if (as_python_is_beside(all))
        options.event = AS_EVENT_CPU_CLOCK;
    const int rc = as_sampler_open(as_launch_pid(all->launch), &options, &source->sampler, err);
    /* If the kernel refuses all perf events, the message suggests timers. */
    if ((rc == AS_ERR_PERMISSION || rc == AS_ERR_UNSUPPORTED) && !all->plan && !events_of_ours()) {
        const struct as_error why = *err;
        as_error_set(err, rc, "%s; a program that assay starts is sampled by timers instead",
                     why.text);
    }
    return rc;
}

static struct as_sampler *sampler_of(const struct as_collector *it)
{
    return ((const struct perf_source *)it->self)->sampler;
}

static bool perf_wait(struct as_collector *it, int other_fd, int timeout_ms)
{
    return as_sampler_wait(sampler_of(it), other_fd, timeout_ms);
}

/* Changes the size of stack copies to that which the stacks so far need. */
static void choose_depth(struct perf_source *source, const struct as_collection *all)
{
    if (as_sampler_choice(source->sampler)->deep_b && all->recorder &&
        as_depth_look(&source->depth, as_recorder_stacks(all->recorder), as_monotonic_ns()))
        as_sampler_deepen(source->sampler, source->depth.is_deep);
}

static int perf_pump(struct as_collector *it, struct as_collection *all, bool last,
                     struct as_error *err)
{
    AS_TRY(as_sampler_pump(sampler_of(it), last, as_collection_hand, all, err));
    if (!last)
        choose_depth(it->self, all);
    return 0;
}

static int perf_stop(struct as_collector *it, struct as_error *err)
{
    return as_sampler_enable(sampler_of(it), false, err);
}

static void perf_close(struct as_collector *it)
{
    struct perf_source *source = it->self;
    if (source)
        as_sampler_close(&source->sampler);
    as_free(source);
    it->self = NULL;
}

static const struct as_sample_choice *perf_choice(const struct as_collector *it)
{
    return as_sampler_choice(sampler_of(it));
}

static const struct as_sample_counts *perf_counts(const struct as_collector *it)
{
    return as_sampler_counts(sampler_of(it));
}

extern const struct as_collector_kind as_collector_perf;
const struct as_collector_kind as_collector_perf = {.name = "perf",
                                                    .is_wanted = perf_is_wanted,
                                                    .open = perf_open,
                                                    .wait = perf_wait,
                                                    .pump = perf_pump,
                                                    .stop = perf_stop,
                                                    .close = perf_close,
                                                    .choice = perf_choice,
                                                    .counts = perf_counts};
