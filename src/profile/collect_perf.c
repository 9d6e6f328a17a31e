/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the kernel as a source of observation: samples from outside (<assay/sample.h>).
 */
#include <unistd.h>

#include "base/error.h"
#include "profile/collector.h"

static bool perf_is_wanted(const struct as_collection *all)
{
    return all->request->sampling.event != ASSAY_EVENT_TIMER;
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

static int perf_open(struct as_collector *it, const struct as_collection *all,
                     struct assay_error *err)
{
    struct assay_sample_options options = all->request->sampling;
    struct assay_sampler *sampler = NULL;
    options.on_exec = all->plan != NULL;
    options.switches = options.waits = true;
    const int rc = assay_sampler_open(assay_launch_pid(all->launch), &options, &sampler, err);
    it->self = sampler;
    /* Refused for this process, or at all? Then there is another way than to ask the administrator.
     */
    if ((rc == ASSAY_ERR_PERMISSION || rc == ASSAY_ERR_UNSUPPORTED) && !all->plan &&
        !events_of_ours()) {
        const struct assay_error why = *err;
        as_error_set(err, rc, "%s; a program that assay starts is sampled by timers instead",
                     why.text);
    }
    return rc;
}

static bool perf_wait(struct as_collector *it, int other_fd, int timeout_ms)
{
    return assay_sampler_wait(it->self, other_fd, timeout_ms);
}

static int perf_pump(struct as_collector *it, struct as_collection *all, bool last,
                     struct assay_error *err)
{
    return assay_sampler_pump(it->self, last, as_collection_hand, all, err);
}

static int perf_stop(struct as_collector *it, struct assay_error *err)
{
    return assay_sampler_enable(it->self, false, err);
}

static void perf_close(struct as_collector *it)
{
    struct assay_sampler *sampler = it->self;
    assay_sampler_close(&sampler);
}

static const struct assay_sample_choice *perf_choice(const struct as_collector *it)
{
    return assay_sampler_choice(it->self);
}

static const struct assay_sample_counts *perf_counts(const struct as_collector *it)
{
    return assay_sampler_counts(it->self);
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
