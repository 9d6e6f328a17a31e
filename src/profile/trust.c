/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Caveats on a profile, as flags: samples that are missing, stacks that end too early,
 * code without names or lines. A flag is set only for what can change a conclusion.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/attribute.h"

/* Min share of the samples that a flag reports. */
#define WORTH 0.01

int as_attribute_flag(struct as_attribution *all, enum as_object_kind kind, int64_t id,
                      const char *name, uint64_t n, struct as_error *err, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const struct as_flag it = {.run_id = all->run_id,
                               .kind = kind,
                               .object_id = id,
                               .name = name,
                               .text = text,
                               .n = n ? (int64_t)n : 1};
    return as_experiment_flag(all->experiment, &it, err);
}

#define FLAG_RUN(name, n, ...)                                                                     \
    AS_TRY(as_attribute_flag(all, AS_OBJECT_RUN, all->run_id, name, n, err, __VA_ARGS__))

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

static bool is_timed(const struct as_tally_stream *stream)
{
    return stream->event && strcmp(stream->event, as_sample_event_name(AS_EVENT_TIMER)) == 0;
}

const char *as_attribute_fact(const struct as_attribution *all, uint32_t stream, const char *name)
{
    as_vec_foreach (&all->tally.fact, fact)
        if (fact->stream == stream && strcmp(fact->name, name) == 0)
            return fact->value;
    return NULL;
}

/* Flags threads and processes without a timer. */
static int flag_missed(struct as_attribution *all, uint32_t stream, struct as_error *err)
{
    const char *threads = as_attribute_fact(all, stream, "threads_missed");
    const char *processes = as_attribute_fact(all, stream, "processes_missed");
    const char *why = as_attribute_fact(all, stream, "missed_why");
    why = why ? why : "the reason is unknown";
    if (threads)
        FLAG_RUN("missed_threads", strtoull(threads, NULL, 10),
                 "%s threads are missing in the profile, at least in part: %s", threads, why);
    if (processes)
        FLAG_RUN("missed_processes", strtoull(processes, NULL, 10),
                 "%s processes are missing in the profile: %s", processes, why);
    return 0;
}

/* Flags processes that run on after the end of the command. */
static int flag_outlived(struct as_attribution *all, uint32_t stream, struct as_error *err)
{
    const char *n = as_attribute_fact(all, stream, "outlived_n");
    if (n)
        FLAG_RUN("outlived", strtoull(n, NULL, 10),
                 "processes of the command still ran when it ended (daemons): %s; their later "
                 "work is not in the profile; make the command wait for them",
                 n);
    return 0;
}

/* Flags Python interpreters without Python frames in the call stacks. */
static int flag_python(struct as_attribution *all, uint32_t stream, struct as_error *err)
{
    const char *other = as_attribute_fact(all, stream, "python_other");
    const char *strange = as_attribute_fact(all, stream, "python_strange");
    const char *trouble = as_attribute_fact(all, stream, "python_trouble");
    const char *hidden = as_attribute_fact(all, stream, "python_hidden");
    if (other)
        FLAG_RUN("python_frames", 1,
                 "Python %s: its frames are not read, so its functions and lines are missing; run "
                 "the program with CPython 3.11",
                 other[0] ? other : "of an unknown version");
    if (strange)
        FLAG_RUN("python_frames", 1,
                 "Python %s: its structures differ from those of CPython 3.11, so its functions "
                 "and lines are missing; run the program with the python3 of Debian 12",
                 strange);
    if (trouble)
        FLAG_RUN("python_frames", 1, "functions and lines of Python are missing: %s", trouble);
    if (hidden)
        FLAG_RUN("python_frames", 1,
                 "%s: no symbol _PyRuntime was found in it, so functions and lines of Python are "
                 "missing; use an interpreter that exports it, as the python3 of Debian 12",
                 hidden);
    return 0;
}

static int flag_stream(struct as_attribution *all, const struct as_tally_stream *stream,
                       struct as_error *err)
{
    const struct as_sample_counts *counts = &stream->counts;
    if (stream->reason && stream->reason[0])
        FLAG_RUN("event_fallback", 1, "%s", stream->reason);
    if (stream->truncated)
        FLAG_RUN("truncated", 1,
                 "%s: the end of the recording is missing: assay was killed or the disk was full",
                 stream->name);
    if (stream->damaged)
        FLAG_RUN("damaged_blocks", stream->damaged,
                 "%s: %" PRIu64
                 " parts of the recording are damaged and left out: samples and times are too "
                 "low; profile again",
                 stream->name, stream->damaged);
    if (counts->lost && is_timed(stream))
        FLAG_RUN("lost_samples", counts->lost,
                 "%" PRIu64
                 " samples were dropped: the buffer of a process was full; use a lower --rate, or "
                 "--call-stacks fp",
                 counts->lost);
    else if (counts->lost)
        FLAG_RUN("lost_samples", counts->lost,
                 "%" PRIu64 " samples were lost: they were not read in time; use a lower --rate, "
                 "--call-stacks fp, or the capability CAP_SYS_NICE for assay",
                 counts->lost);
    if (counts->lost_other)
        FLAG_RUN("lost_records", counts->lost_other,
                 "%" PRIu64 " records of threads, files and switches were lost: some code may be "
                 "[unknown], and times of waiting too short",
                 counts->lost_other);
    if (stream->dropped)
        FLAG_RUN("size_limit", stream->dropped,
                 "%" PRIu64 " samples were not stored: the limit of --max-size was reached",
                 stream->dropped);
    if (counts->throttled)
        FLAG_RUN("throttled", counts->throttled,
                 "the kernel stopped the sampling %" PRIu64
                 " times because it took too long; use a lower --rate",
                 counts->throttled);
    if (counts->damaged)
        FLAG_RUN("damaged_records", counts->damaged,
                 "%" PRIu64 " records of the kernel could not be read: it is newer than this "
                 "program",
                 counts->damaged);
    return 0;
}

static int flag_stacks(struct as_attribution *all, struct as_error *err)
{
    const struct as_tally *tally = &all->tally;
    if (tally->running_n && (double)tally->broken_n > WORTH * (double)tally->running_n)
        FLAG_RUN("broken_stacks", tally->broken_n,
                 "%.1f %% of the call stacks end early or lack callers: generated code or assembly "
                 "has no unwind information; compile it with frame pointers or .cfi directives",
                 percent(tally->broken_n, tally->running_n));
    if (tally->running_n && (double)tally->cut_n > WORTH * (double)tally->running_n)
        FLAG_RUN("cut_stacks", tally->cut_n,
                 "%.1f %% of the call stacks were longer than the copied part: outer callers are "
                 "missing; raise --stack-size (at most 65528), or use --call-stacks fp and "
                 "-fno-omit-frame-pointer",
                 percent(tally->cut_n, tally->running_n));
    if (tally->running_n && (double)tally->switched_n > WORTH * (double)tally->running_n)
        FLAG_RUN("switched_stacks", tally->switched_n,
                 "%.1f %% of the call stacks end at a signal handler on an alternate stack "
                 "(sigaltstack): the stack of the interrupted code is not copied",
                 percent(tally->switched_n, tally->running_n));
    return 0;
}

/* Flags programs that wait too often to sample each wait. */
static int flag_waits(struct as_attribution *all, struct as_error *err)
{
    const struct as_tally *tally = &all->tally;
    const double all_ns = tally->placed_ns + tally->spread_ns + tally->unplaced_ns;
    if (tally->placed_ns <= 0) /* waits were not sampled; the reason of the event says it */
        return 0;
    if (tally->spread_ns > WORTH * all_ns)
        FLAG_RUN("spread_waits", 1,
                 "threads waited too often to sample each wait: %.1f %% of the waiting time was "
                 "attributed by the sampled waits",
                 100 * tally->spread_ns / all_ns);
    if (tally->unplaced_ns > WORTH * all_ns)
        FLAG_RUN("unplaced_waits", 1,
                 "%.1f %% of the waiting time has no code position: too many threads left the CPU "
                 "at that time",
                 100 * tally->unplaced_ns / all_ns);
    return 0;
}

static int flag_module(struct as_attribution *all, uint32_t index, struct as_error *err)
{
    const struct as_tally_module *module = &all->tally.module.at[index];
    const struct as_module_fact *fact = &all->module[index];
    const double share = percent(module->n, all->tally.running_n);
    if (!fact->id || share < 100 * WORTH)
        return 0;
    if (fact->no_file)
        return as_attribute_flag(all, AS_OBJECT_MODULE, fact->id, "no_file", module->n, err, "%s",
                                 fact->trouble);
    if (module->kind != AS_MODULE_FILE)
        return 0;
    if (fact->trouble[0])
        return as_attribute_flag(all, AS_OBJECT_MODULE, fact->id, "not_analysed", module->n, err,
                                 "%s", fact->trouble);
    if (!fact->has_debug && !fact->is_system)
        return as_attribute_flag(
            all, AS_OBJECT_MODULE, fact->id, "no_debug", module->n, err,
            "%s has no debug information: its loops have no source lines; compile it with "
            "-g",
            fact->name);
    return 0;
}

int as_attribute_trust(struct as_attribution *all, struct as_error *err)
{
    /* The most severe flags come first; the others concern the samples only. */
    AS_TRY(as_attribute_unseen(all, err));
    AS_TRY(as_attribute_crashes(all, err));
    for (uint32_t i = 0; i < all->tally.stream.n; i++) {
        AS_TRY(flag_stream(all, &all->tally.stream.at[i], err));
        AS_TRY(flag_missed(all, i, err));
        AS_TRY(flag_outlived(all, i, err));
        AS_TRY(flag_python(all, i, err));
    }
    AS_TRY(flag_stacks(all, err));
    AS_TRY(flag_waits(all, err));
    for (uint32_t i = 0; i < all->tally.module.n; i++)
        AS_TRY(flag_module(all, i, err));
    return 0;
}
