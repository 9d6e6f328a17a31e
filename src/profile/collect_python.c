/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects Python frames beside perf events, because the kernel cannot read them. In a supported
 * interpreter, timers inside the program take the time samples from its first frame on. The
 * kernel's samples of that time are left out. Waits, switches and other processes come from perf.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/io_full.h"
#include "base/str.h"
#include "base/untrusted_open.h"
#include "profile/timers.h"

/* ---- Commands of Python ------------------------------------------------------------------- */

static bool has_python(const char *word)
{
    return word && (strstr(word, "python") || as_view_ends(as_view_of(word), ".py"));
}

/* Returns true if the file begins with "#!/usr/bin/env python3" or a similar line. */
static bool begins_python(const char *path)
{
    char line[256] = "";
    const int fd = as_foreign_open(AT_FDCWD, path, 0, NULL);
    const bool is_script =
        fd >= 0 && as_whole_read(fd, line, sizeof line - 1) > 2 && strncmp(line, "#!", 2) == 0;
    if (fd >= 0)
        close(fd);
    line[strcspn(line, "\n")] = 0;
    return is_script && has_python(line);
}

bool as_python_is_named(const struct as_launch_plan *plan)
{
    for (size_t i = 0; plan->argv[i]; i++)
        if (has_python(plan->argv[i]))
            return true;
    return has_python(plan->real_path) || has_python(plan->interpreter) ||
           begins_python(plan->path);
}

static bool python_is_wanted(const struct as_collection *all)
{
    const struct as_sample_options *o = &all->request->sampling;
    return all->plan && !all->request->trace && o->stacks == AS_STACKS_DWARF &&
           (o->event == AS_EVENT_AUTO || o->event == AS_EVENT_CPU_CLOCK) &&
           as_python_is_named(all->plan);
}

static const struct as_collector *find_source(const struct as_collection *all, const char *name)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->at[i].kind->name, name) == 0)
            return &all->at[i];
    return NULL;
}

struct python_source {
    struct as_timers timers;
    bool is_on;
    char trouble[AS_ERROR_TEXT_B]; /* reason why it is not on; "" if on, or not wanted */
};

static struct as_timer_sampler *sampler_of(const struct as_collector *it)
{
    const struct python_source *source = it->self;
    return source && source->is_on ? source->timers.sampler : NULL;
}

bool as_python_is_beside(const struct as_collection *all)
{
    const struct as_collector *it = find_source(all, "python");
    return it && sampler_of(it);
}

/* ---- Beginning ----------------------------------------------------------------------------- */

/* Prepares the timers. A failure is not an error: the program is then recorded without Python
 * frames. Does nothing without the perf collector, because timers then take all samples. */
static int prepare_python(struct as_collector *it, const struct as_collection *all,
                          const struct as_error *why, struct as_error *err)
{
    struct as_error trouble;
    (void)why;
    if (!find_source(all, "perf"))
        return 0;
    struct python_source *source = as_calloc(1, sizeof *source);
    if (!source)
        return as_error_nomem(err, "timers");
    it->self = source;
    if (as_timer_sampler_check(all->plan->path, &trouble) < 0 ||
        as_timers_open(all, NULL, &source->timers, &trouble) < 0) {
        memcpy(source->trouble, trouble.text, sizeof source->trouble);
        return 0;
    }
    source->is_on = true;
    as_timer_python_alone(source->timers.sampler);
    it->environment = as_timer_sampler_environment(source->timers.sampler);
    it->preload = as_timer_sampler_preload(source->timers.sampler);
    return 0;
}

static int open_python(struct as_collector *it, const struct as_collection *all,
                       struct as_error *err)
{
    (void)err;
    if (sampler_of(it) && all->request->sampling.no_children)
        as_timer_sampler_only(sampler_of(it), as_launch_pid(all->launch));
    return 0;
}

/* ---- Recording ----------------------------------------------------------------------------- */

/* Context of the records of timers. Only samples are used; the kernel gives the other records. */
struct beside {
    const struct as_collector *it;
    const struct as_collection *all;
};

static int hand_beside(void *context, const struct as_sample_record *record, struct as_error *err)
{
    const struct beside *beside = context;
    const bool is_wanted =
        record->kind == AS_SAMPLE_LOST ||
        (record->kind == AS_SAMPLE_SAMPLE &&
         as_timer_reads_python(sampler_of(beside->it), record->pid, record->time_ns));
    return is_wanted ? beside->all->sink(beside->all->context, record, err) : 0;
}

static int hand_before(const struct as_collector *it, const struct as_collection *all,
                       uint64_t before_ns, struct as_error *err)
{
    struct beside beside = {it, all};
    struct as_timer_sampler *sampler = sampler_of(it);
    return sampler ? as_timer_hand(sampler, before_ns, hand_beside, &beside, err) : 0;
}

static int pump_python(struct as_collector *it, struct as_collection *all, bool last,
                       struct as_error *err)
{
    struct beside beside = {it, all};
    struct as_timer_sampler *sampler = sampler_of(it);
    return sampler ? as_timer_collect(sampler, last, hand_beside, &beside, err) : 0;
}

/* Writes the timers' samples up to the time of a kernel record, because that may map a file. */
static int on_python_record(struct as_collector *it, const struct as_collection *all,
                            const struct as_sample_record *record, struct as_error *err)
{
    return hand_before(it, all, record->time_ns, err);
}

static bool hides_sample(const struct as_collector *it, const struct as_sample_record *record)
{
    return sampler_of(it) && record->kind == AS_SAMPLE_SAMPLE && !record->waits &&
           as_timer_reads_python(sampler_of(it), record->pid, record->time_ns);
}

static int stop_python(struct as_collector *it, struct as_error *err)
{
    struct as_timer_sampler *sampler = sampler_of(it);
    return sampler ? as_timer_sampler_enable(sampler, false, err) : 0;
}

static int finish_python(struct as_collector *it, const struct as_collection *all,
                         struct as_error *err)
{
    const struct python_source *source = it->self;
    AS_TRY(hand_before(it, all, UINT64_MAX, err));
    if (source && source->trouble[0])
        return as_recorder_info(all->recorder, "python_trouble", source->trouble, err);
    return source ? as_timers_write_python(&source->timers, all, true, err) : 0;
}

static void close_python(struct as_collector *it)
{
    struct python_source *source = it->self;
    if (source)
        as_timers_close(&source->timers);
    as_free(source);
}

static struct as_agent_session *session_of_python(const struct as_collector *it)
{
    return sampler_of(it) ? as_timer_session(sampler_of(it)) : NULL;
}

extern const struct as_collector_kind as_collector_python;
const struct as_collector_kind as_collector_python = {.name = "python",
                                                      .is_wanted = python_is_wanted,
                                                      .prepare = prepare_python,
                                                      .open = open_python,
                                                      .pump = pump_python,
                                                      .meet = on_python_record,
                                                      .hides = hides_sample,
                                                      .stop = stop_python,
                                                      .finish = finish_python,
                                                      .close = close_python,
                                                      .session = session_of_python};
