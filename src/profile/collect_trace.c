/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as a source of observation: the agent's tracer writes streams of events into the run's
 * directory, to which a link in the agent's directory leads. Wrappers are preloaded beside it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/shared/trace_part.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io_full.h"
#include "base/str.h"
#include "base/ticks.h"
#include "profile/agent_session.h"
#include "profile/trace_counters.h"
#include "profile/trace_program.h"
#include "profile/trace_rendezvous.h"
#include "profile/trace_switch.h"
#include "trace/devices.h"
#include "trace/filter.h"
#include "trace/record.h"

struct traced {
    struct as_inside inside;
    struct as_tracer_part *part;
    struct as_trace_switch switching;
    struct as_str preload;
    struct as_str layers;       /* OPENCL_LAYERS=... */
    const char *environment[8]; /* the session's words, and that */
    struct as_trace_devices devices;
    char link[PATH_MAX];     /* "": there is none */
    char filter[PATH_MAX];   /* the file of its rules; "": there is none */
    char counters[PATH_MAX]; /* the file of counters of perf; "": there is none */
    struct as_trace_rendezvous rendezvous;
    uint64_t missed_n, samples_missed_n, shared_n;
    int missed_errno;
};

static bool trace_is_wanted(const struct as_collection *all)
{
    return all->request->trace && all->plan;
}

/* ---- Clocks -------------------------------------------------------------------------------- */

/* One rate whatever the processor does, on all of them. */
static bool has_steady_counter(void)
{
    char *line = NULL;
    size_t room = 0;
    bool steady = false, seen = false;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && !seen && getline(&line, &room, file) > 0)
        if (strncmp(line, "flags", 5) == 0) {
            seen = true;
            steady = strstr(line, " constant_tsc") && strstr(line, " nonstop_tsc");
        }
    free(line);
    if (file)
        fclose(file);
    return steady;
}

/* Ticks a second, to 1 in 10^5: of use for threads that live shorter than a millisecond alone. */
static uint64_t measure_rate(void)
{
    const struct timespec rest = {0, 5000000};
    int64_t from_ns = 0, to_ns = 0;
    const uint64_t from = as_ticks_at(8, &from_ns);
    nanosleep(&rest, NULL);
    const uint64_t ticks = as_ticks_at(8, &to_ns) - from;
    const int64_t ns = to_ns - from_ns;
    return ns > 0 ? (uint64_t)((double)ticks * 1e9 / (double)ns) : 0;
}

/* ---- Beginning ----------------------------------------------------------------------------- */

/* What stands before the routines of a group. */
static const struct {
    uint32_t group;
    const char *library;
} libraries[] = {
    {AS_TRACER_MPI, "libassay-mpi.so"},         {AS_TRACER_OPENMP, "libassay-openmp.so"},
    {AS_TRACER_PTHREAD, "libassay-pthread.so"}, {AS_TRACER_IO, "libassay-io.so"},
    {AS_TRACER_MEMORY, "libassay-memory.so"},   {AS_TRACER_FUNCTIONS, "libassay-functions.so"},
}; /* the ICD loader loads that of OpenCL */

#define SAME_BIT(group, name, bit)                                                                 \
    _Static_assert(AS_TRACER_##group == (bit), "one number here and in the program");
AS_TRACED_GROUPS(SAME_BIT)
#undef SAME_BIT
#define SAME_BIT(counter, name, bit)                                                               \
    _Static_assert(AS_OS_##counter == (bit), "one number here and in the program");
AS_TRACED_COUNTERS(SAME_BIT)
#undef SAME_BIT

/* Stamps a second. */
static double rate_of(const struct as_tracer_part *part)
{
    return part->clock == AS_TRACE_TSC ? (double)part->tick_hz : 1e9;
}

static void fill_part(struct as_tracer_part *part, const struct as_trace_options *options)
{
    const uint64_t blocks = options->ring_b / AS_TRACE_BLOCK_B;
    part->version = AS_TRACER_VERSION;
    part->groups = options->groups;
    part->callers = options->callers < AS_TRACED_CALLERS_N ? options->callers : AS_TRACED_CALLERS_N;
    part->memory_min_b = options->memory_min_b;
    part->first_ns = (uint64_t)(options->first_s * 1e9);
    part->clock = has_steady_counter() ? AS_TRACE_TSC : AS_TRACE_KERNEL;
    part->tick_hz = part->clock == AS_TRACE_TSC ? measure_rate() : 0;
    if (options->burst_s > 0)
        part->burst_ticks = (uint64_t)(options->burst_s * rate_of(part)) + 1;
    part->counters = options->counters;
    part->counter_ticks = (uint64_t)(options->counters_s * rate_of(part));
    part->samples = options->samples;
    part->limited = options->limit_b != 0;
    part->budget_b = (int64_t)(options->limit_b < INT64_MAX / 2 ? options->limit_b : INT64_MAX / 2);
    if (options->ring_b)
        part->ring_n = blocks < 2 ? 2 : blocks > 1u << 20 ? 1u << 20 : (uint32_t)blocks;
}

/* A library beside the agent. */
static void add_library(struct traced *traced, const char *name)
{
    const char *agent = traced->inside.session->preload;
    const char *slash = strrchr(agent, '/');
    as_str_appendf(&traced->preload, "%s%.*s/%s", traced->preload.n ? ":" : "",
                   (int)(slash - agent), agent, name);
}

/* The layer before OpenCL, behind those that the user has. */
static int add_layer(struct traced *traced, struct as_collector *it, struct as_error *err)
{
    static const char variable[] = "OPENCL_LAYERS";
    const char *agent = traced->inside.session->preload;
    const char *slash = strrchr(agent, '/'), *before = getenv(variable);
    const size_t max_n = sizeof traced->environment / sizeof *traced->environment - 2;
    size_t n = 0;
    for (; it->environment && it->environment[n] && n < max_n; n++)
        traced->environment[n] = it->environment[n];
    as_str_appendf(&traced->layers, "%s=%s%s%.*s/libassay-opencl.so", variable,
                   before ? before : "", before && *before ? ":" : "", (int)(slash - agent), agent);
    if (traced->layers.failed)
        return as_error_nomem(err, "the libraries of a trace");
    traced->environment[n] = as_str_z(&traced->layers);
    it->environment = traced->environment;
    return 0;
}

static int prepare_trace(struct as_collector *it, const struct as_collection *all,
                         const struct as_error *why, struct as_error *err)
{
    struct traced *traced;
    const struct as_trace_options *options = all->request->trace;
    (void)why;
    it->self = traced = as_calloc(1, sizeof *traced);
    if (!traced)
        return as_error_nomem(err, "a trace");
    AS_TRY(as_inside_join(&traced->inside, it, all, err));
    traced->part = as_agent_session_part(traced->inside.session, AS_TRACER_CLIENT);
    if (!traced->part)
        return as_error_set(err, AS_ERR_LIMIT, "the agent has no slot left for a tracer");
    if (options->events)
        AS_TRY(as_trace_counters_check(options->events, err));
    fill_part(traced->part, options);
    as_trace_rendezvous_prepare(&traced->rendezvous, traced->part);
    if (as_trace_switch_is_wanted(options)) {
        struct as_switch_part *part =
            as_agent_session_part(traced->inside.session, AS_SWITCH_CLIENT);
        if (!part)
            return as_error_set(err, AS_ERR_LIMIT, "the agent has no slot left for switches");
        as_trace_switch_fill(&traced->switching, part, options,
                             traced->part->clock == AS_TRACE_TSC);
    }
    if (it->preload)
        as_str_appendz(&traced->preload, it->preload);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (options->groups & libraries[i].group)
            add_library(traced, libraries[i].library);
    if (traced->preload.failed)
        return as_error_nomem(err, "the libraries of a trace");
    if (options->groups & AS_TRACER_OPENCL)
        AS_TRY(add_layer(traced, it, err));
    it->preload = traced->preload.n ? as_str_z(&traced->preload) : NULL;
    return 0;
}

/* A program that cannot be read has no names that could be readable. */
static int make_rules(const struct as_collection *all, struct as_str *rules, struct as_error *err)
{
    const struct as_trace_options *options = all->request->trace;
    struct as_object *object;
    char path[PATH_MAX];
    as_str_append(rules, options->filter, options->filter_b);
    as_trace_program(all->plan, path);
    if (as_object_open(path, all->request->attribute.open, &object, NULL) < 0)
        return 0;
    const int rc = as_trace_readable_rules(object, rules, err);
    as_object_close(&object);
    return rc;
}

/* Where the program looks for it. `path` is "" if the file was not made. */
struct agent_file {
    const char *name, *what;
    char *path;
};

static int write_agent_file(const struct traced *traced, const struct agent_file *file,
                            const struct as_str *text, struct as_error *err)
{
    snprintf(file->path, PATH_MAX, "%s/%s", as_agent_session_path(traced->inside.session),
             file->name);
    const int fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    const int error = fd < 0 ? errno : as_whole_write(fd, as_str_z(text), text->n);
    if (fd >= 0)
        close(fd);
    else
        file->path[0] = 0;
    return error ? as_error_set(err, AS_ERR_IO, "%s of a trace cannot be written: %s", file->what,
                                strerror(error))
                 : 0;
}

static int write_counters(struct traced *traced, const struct as_collection *all,
                          struct as_error *err)
{
    const struct agent_file file = {AS_EVENT_COUNTERS_FILE, "the counters", traced->counters};
    struct as_str packed = {0};
    if (!all->request->trace->events)
        return 0;
    int rc = as_trace_counters_pack(all->request->trace->events, &packed, err);
    if (rc == 0)
        rc = write_agent_file(traced, &file, &packed, err);
    as_str_fini(&packed);
    return rc;
}

static int write_filter(struct traced *traced, const struct as_collection *all,
                        struct as_error *err)
{
    struct as_str rules = {0};
    if (!all->request->trace->filter)
        return 0;
    int rc = make_rules(all, &rules, err);
    if (rc == 0)
        rc = write_agent_file(
            traced, &(const struct agent_file){AS_TRACE_FILTER, "the filter", traced->filter},
            &rules, err);
    as_str_fini(&rules);
    return rc;
}

static int start_switching(struct traced *traced, struct as_error *err)
{
    const int rc = as_trace_switch_start(&traced->switching);
    return rc < 0 ? as_error_set(err, AS_ERR_IO,
                                 "the thread that switches the trace cannot be started: %s",
                                 strerror(-rc))
                  : 0;
}

/* The directory of the run is known now. */
static int start_trace(struct as_collector *it, const struct as_collection *all,
                       struct as_error *err)
{
    struct traced *traced = it->self;
    char path[PATH_MAX], *real;
    snprintf(path, sizeof path, "%s/" AS_TRACER_DIRECTORY, all->directory);
    real = mkdir(path, 0777) == 0 || errno == EEXIST ? realpath(path, NULL) : NULL;
    snprintf(traced->link, sizeof traced->link, "%s/" AS_TRACER_DIRECTORY,
             as_agent_session_path(traced->inside.session));
    const int rc = real ? symlink(real, traced->link) : -1;
    const int error = errno;
    free(real);
    if (rc == 0) {
        as_trace_rendezvous_start(&traced->rendezvous, traced->part,
                                  as_agent_session_path(traced->inside.session), all->directory);
        AS_TRY(write_filter(traced, all, err));
        AS_TRY(write_counters(traced, all, err));
        return start_switching(traced, err);
    }
    traced->link[0] = 0;
    return as_error_set(err, AS_ERR_IO, "%s: no directory for a trace can be made: %s", path,
                        strerror(error));
}

/* ---- The end ------------------------------------------------------------------------------- */

static int finish_trace(struct as_collector *it, const struct as_collection *all,
                        struct as_error *err)
{
    struct traced *traced = it->self;
    char path[PATH_MAX];
    as_trace_switch_stop(&traced->switching);
    traced->missed_n = traced->part->streams_missed;
    traced->missed_errno = (int)traced->part->missed_errno;
    traced->samples_missed_n = traced->part->samples_missed;
    traced->shared_n = traced->part->counters_shared;
    snprintf(path, sizeof path, "%s/" AS_TRACER_DIRECTORY, all->directory);
    return as_trace_devices_make(path, &traced->devices, err);
}

struct trace_flags_writing {
    const struct traced *traced;
    struct as_experiment *experiment;
    int64_t run_id;
};

static int store_missed_flag(void *context, struct as_error *err)
{
    const struct trace_flags_writing *to = context;
    char text[256];
    /* So the tracer says of its own limit. */
    const char *why = to->traced->missed_errno == EDQUOT
                          ? "the size limit was reached before they began"
                          : strerror(to->traced->missed_errno);
    snprintf(text, sizeof text, "threads have no events in the trace: %s", why);
    const struct as_flag flag = {.run_id = to->run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = to->run_id,
                                 .name = "trace_missed",
                                 .text = text,
                                 .n = (int64_t)to->traced->missed_n};
    if (flag.n)
        AS_TRY(as_experiment_flag(to->experiment, &flag, err));
    const struct as_flag samples = {
        .run_id = to->run_id,
        .kind = AS_OBJECT_RUN,
        .object_id = to->run_id,
        .name = "trace_samples_missed",
        .text = "samples were dropped: their thread had no event stream yet, or no longer",
        .n = (int64_t)to->traced->samples_missed_n};
    if (samples.n)
        AS_TRY(as_experiment_flag(to->experiment, &samples, err));
    const struct as_flag shared = {
        .run_id = to->run_id,
        .kind = AS_OBJECT_RUN,
        .object_id = to->run_id,
        .name = "trace_counters_shared",
        .text = "readings of counters were left out: the counters were shared with others; use "
                "fewer --counters",
        .n = (int64_t)to->traced->shared_n};
    return shared.n ? as_experiment_flag(to->experiment, &shared, err) : 0;
}

static int store_device_flags(void *context, struct as_error *err)
{
    const struct trace_flags_writing *to = context;
    const struct as_trace_devices *devices = &to->traced->devices;
    char text[160];
    snprintf(text, sizeof text,
             "commands of OpenCL queues have no times of the device: %" PRIu64 " of %" PRIu64
             " were not done, failed or were lost",
             devices->lost_n, devices->commands_n);
    const struct as_flag lost = {.run_id = to->run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = to->run_id,
                                 .name = "trace_device_commands",
                                 .text = text,
                                 .n = (int64_t)devices->lost_n};
    if (lost.n)
        AS_TRY(as_experiment_flag(to->experiment, &lost, err));
    snprintf(text, sizeof text, "times of OpenCL devices are uncertain by %.1f us",
             (double)devices->error_ns / 1e3);
    const struct as_flag clock = {.run_id = to->run_id,
                                  .kind = AS_OBJECT_RUN,
                                  .object_id = to->run_id,
                                  .name = "trace_device_clock",
                                  .text = text,
                                  .n = devices->error_ns};
    return clock.n ? as_experiment_flag(to->experiment, &clock, err) : 0;
}

static int store_partial_flag(void *context, struct as_error *err)
{
    const struct trace_flags_writing *to = context;
    const struct as_flag flag = {
        .run_id = to->run_id,
        .kind = AS_OBJECT_RUN,
        .object_id = to->run_id,
        .name = AS_FLAG_TRACE_PARTIAL,
        .text = "the trace has only the beginning of each process (--dry-run): its results do not "
                "describe the run",
        .n = 1};
    return as_experiment_flag(to->experiment, &flag, err);
}

static int store_trace_flags(struct as_collector *it, const struct as_collection *all,
                             struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    struct trace_flags_writing to = {it->self, experiment, run_id};
    if (to.traced->missed_n || to.traced->samples_missed_n || to.traced->shared_n)
        AS_TRY(as_experiment_batch(experiment, store_missed_flag, &to, err));
    if (to.traced->devices.queues_n)
        AS_TRY(as_experiment_batch(experiment, store_device_flags, &to, err));
    return all->request->trace->first_s > 0
               ? as_experiment_batch(experiment, store_partial_flag, &to, err)
               : 0;
}

/* For others that want to be in the program. */
static struct as_agent_session *session_of_trace(const struct as_collector *it)
{
    const struct traced *traced = it->self;
    return traced->inside.session;
}

static void close_trace(struct as_collector *it)
{
    struct traced *traced = it->self;
    if (!traced)
        return;
    as_trace_switch_stop(&traced->switching);
    as_trace_rendezvous_end(&traced->rendezvous);
    if (traced->link[0])
        unlink(traced->link);
    if (traced->filter[0])
        unlink(traced->filter);
    if (traced->counters[0])
        unlink(traced->counters);
    as_inside_leave(&traced->inside);
    as_str_fini(&traced->preload);
    as_str_fini(&traced->layers);
    as_free(traced);
}

extern const struct as_collector_kind as_collector_trace;
const struct as_collector_kind as_collector_trace = {.name = "trace",
                                                     .is_wanted = trace_is_wanted,
                                                     .prepare = prepare_trace,
                                                     .start = start_trace,
                                                     .finish = finish_trace,
                                                     .facts = store_trace_flags,
                                                     .session = session_of_trace,
                                                     .close = close_trace};
