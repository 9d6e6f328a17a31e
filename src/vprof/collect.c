/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run with clones of loops: the plan as a source of observation beside the others, which writes
 * it into the directory of the agent and reads what the threads left there.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/inject/inject.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/io_full.h"
#include "object/executable.h"
#include "profile/agent_session.h"
#include "profile/record.h"
#include "sample/code_maps.h"
#include "sample/timer_session.h"
#include "vprof/callers.h"
#include "vprof/clones.h"

#define SAMPLES_HZ                                                                                 \
    99 /* the profile is there already: this run is disturbed as little as can be                  \
        */

/* The request of such a run: the first member is what others see. */
struct timed_request {
    struct as_profile_request request;
    const struct as_clones *clones;
};

static const struct timed_request *request_of(const struct as_collection *all)
{
    return (const struct timed_request *)all->request;
}

static int write_plan(const struct timed_request *request, const char *directory,
                      struct as_error *err)
{
    char path[4096 + 32];
    snprintf(path, sizeof path, "%s/" AS_PATCH_PLAN, directory);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int error =
        fd < 0 ? errno : as_whole_write(fd, request->clones->plan, request->clones->plan_n);
    if (fd >= 0)
        close(fd);
    return error ? as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s", path, strerror(error))
                 : 0;
}

/* State in the running program. */
struct timed_clones {
    struct as_inside inside;
    struct as_injector injector;
    struct as_code_maps *maps; /* of what the clones stand for */
    struct as_callers *callers;
};

enum entry_way { BY_LOADER, BY_TRACE, BY_TRACE_ALONE };

/* How the agent comes into an executable: another C library's loader would fail on the library. */
static enum entry_way entry_of(const char *path)
{
    struct as_executable executable;
    enum entry_way entry = BY_LOADER;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && as_executable_read(path, fd, &executable, NULL) == 0 &&
        executable.type != ET_REL && !strstr(executable.loader, AS_LOADER_PRELOADS))
        entry = executable.loader[0] ? BY_TRACE_ALONE : BY_TRACE;
    if (fd >= 0)
        close(fd);
    return entry;
}

static const char *measured_program(const struct as_collection *all)
{
    const char *program = request_of(all)->clones->program;
    return program[0] ? program : all->plan->path;
}

static int prepare_clones(struct as_collector *it, const struct as_collection *all,
                          const struct as_error *why, struct as_error *err)
{
    const struct timed_request *request = request_of(all);
    struct timed_clones *own = as_calloc(1, sizeof *own);
    struct as_inside *inside = &own->inside;
    (void)why;
    it->self = own;
    if (!own || as_code_maps_new(&own->maps) < 0 || as_callers_new(&own->callers) < 0)
        return as_error_nomem(err, "a plan");
    inside->is_entered = true;
    AS_TRY(as_inside_join(inside, it, all, err));
    if (all->plan && entry_of(measured_program(all)) == BY_TRACE_ALONE)
        it->preload = NULL;
    struct as_patcher_part *part = as_agent_session_part(inside->session, "patch");
    if (part) {
        part->map = 1;
        part->share = request->clones->share;
        part->together = request->clones->together;
    }
    if (!all->plan) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/exe", (int)all->request->pid);
        as_agent_session_only(inside->session, path);
    } else if (request->clones->program[0])
        as_agent_session_only(inside->session, request->clones->program);
    return write_plan(request, as_agent_session_path(inside->session), err);
}

/* The agent opens them as the user of the process. */
static int chown_agent_files(const char *directory, pid_t pid, struct as_error *err)
{
    static const char *const name[] = {"", "/" AS_AGENT_CONTROL, "/" AS_PATCH_PLAN};
    struct stat status;
    char path[4096 + 32];
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (geteuid() != 0 || stat(path, &status) < 0 || status.st_uid == 0)
        return 0;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        snprintf(path, sizeof path, "%s%s", directory, name[i]);
        if (chown(path, status.st_uid, status.st_gid) < 0)
            return as_error_set(err, AS_ERR_IO, "%s: cannot be given to user %u: %s", path,
                                (unsigned)status.st_uid, strerror(errno));
    }
    return 0;
}

static int enter_process(struct timed_clones *own, pid_t pid, struct as_error *err)
{
    const struct as_agent_session *session = own->inside.session;
    const char *directory = as_agent_session_path(session);
    AS_TRY(as_injector_attach_check(pid, directory, err));
    AS_TRY(chown_agent_files(directory, pid, err));
    return as_injector_attach(&own->injector, pid, directory, session->preload, err);
}

/* The loader brings the library into all others. */
static int enter_program(struct as_collector *it, const struct as_collection *all,
                         struct as_error *err)
{
    struct timed_clones *own = it->self;
    const struct as_agent_session *session = own->inside.session;
    if (!all->plan)
        return enter_process(own, all->request->pid, err);
    if (entry_of(measured_program(all)) == BY_LOADER)
        return 0;
    return as_injector_begin(&own->injector, as_launch_pid(all->launch),
                             as_agent_session_path(session), session->preload, err);
}

/* Samples in clones belong to the code that these stand for. */
static int begin_clones(struct as_collector *it, const struct as_collection *all,
                        struct as_error *err)
{
    const struct timed_clones *own = it->self;
    const struct as_clones *wanted = request_of(all)->clones;
    const char *path = as_inside_path(&own->inside, all);
    as_recorder_code_maps(all->recorder, own->maps);
    return wanted->begin && path ? wanted->begin(wanted->context, path, err) : 0;
}

static int follow_clones(struct as_collector *it, const struct as_collection *all,
                         const struct as_sample_record *record, struct as_error *err)
{
    const struct timed_clones *own = it->self;
    const char *path = as_inside_path(&own->inside, all);
    return path && as_code_maps_follow(own->maps, path, record->time_ns) < 0
               ? as_error_nomem(err, "maps of clones")
               : 0;
}

/* Keeps the mappings, since call paths are unwound after the end of the run. */
static int follow_callers(struct as_collector *it, const struct as_collection *all,
                          const struct as_sample_record *record, struct as_error *err)
{
    const struct timed_clones *own = it->self;
    return as_callers_follow(own->callers, all->recorder, record) < 0
               ? as_error_nomem(err, "maps of processes")
               : 0;
}

static int read_clones(struct as_collector *it, const struct as_collection *all,
                       struct as_error *err)
{
    const struct timed_request *request = request_of(all);
    struct timed_clones *own = it->self;
    const struct as_clones *wanted = request->clones;
    struct as_instances *out = wanted->out;
    const char *path = as_inside_path(&own->inside, all);
    if (!all->plan) { /* what threads measured is whole when they have left */
        as_injector_leave(&own->injector);
        if (!as_injector_rest(&own->injector, out->rest, sizeof out->rest))
            out->rest[0] = 0;
    }
    if (path)
        as_code_maps_look(own->maps, path, true);
    if (!path)
        return 0;
    if (wanted->also)
        AS_TRY(wanted->also(wanted->context, path, err));
    out->callers = own->callers;
    const int rc = as_instances_read(path, (const void *)wanted->plan, out, err);
    out->callers = NULL;
    return rc;
}

static void close_clones(struct as_collector *it)
{
    struct timed_clones *own = it->self;
    struct as_inside *inside = own ? &own->inside : NULL;
    if (!own)
        return;
    as_injector_end(&own->injector);
    if (inside->directory[0] && inside->session) { /* of a program that was never let go */
        struct as_instances rest = {0};
        static const struct as_patch_plan none;
        as_instances_read(inside->directory, &none, &rest, NULL);
        as_instances_fini(&rest);
        as_code_maps_look(own->maps, inside->directory, true);
    }
    as_inside_leave(inside);
    as_code_maps_free(&own->maps);
    as_callers_free(&own->callers);
    as_free(own);
}

static const struct as_collector_kind clones = {.name = "clones",
                                                .prepare = prepare_clones,
                                                .open = enter_program,
                                                .start = begin_clones,
                                                .meet = follow_clones,
                                                .follow = follow_callers,
                                                .finish = read_clones,
                                                .close = close_clones};

int as_clones_check(const struct as_profile_request *request, const char *what,
                    struct as_error *err)
{
    struct as_launch_plan *plan;
    if (!request->command)
        return as_injector_attach_check(request->pid, NULL, err);
    AS_TRY(as_launch_plan(request->command, &plan, err));
    const int rc = as_entry_check(plan->path, what, err);
    as_launch_plan_free(&plan);
    return rc;
}

int as_clones_record(struct as_experiment *experiment, const struct as_input *input,
                     const struct as_collector_kind *const *kinds,
                     const struct as_profile_request *request, struct as_profile_result *result,
                     struct as_error *err)
{
    struct as_output output;
    as_profile_notify_begin(request);
    AS_TRY(as_output_divert(&output, experiment, err));
    as_input_rewind(input);
    const int rc = as_profile_run_with(kinds, experiment, request, result, err);
    as_output_restore(&output);
    const int kept = as_output_keep(experiment, result->run_id, rc < 0 ? NULL : err);
    return rc < 0 ? rc : kept;
}

/* All that there are, and ours behind them. */
static void list_kinds(const struct as_collector_kind **kinds)
{
    size_t n = 0;
    while (as_collector_kinds[n] && n + 2 < AS_COLLECTORS_MOST) {
        kinds[n] = as_collector_kinds[n];
        n++;
    }
    kinds[n] = &clones;
}

int as_clones_join(struct as_experiment *experiment, const struct as_profile_request *profile,
                   const struct as_clones *it, struct as_profile_result *result,
                   struct as_error *err)
{
    const struct as_collector_kind *kinds[AS_COLLECTORS_MOST] = {0};
    struct timed_request request = {.request = *profile, .clones = it};
    list_kinds(kinds);
    return as_profile_run_with(kinds, experiment, &request.request, result, err);
}

/* A process that was there for its profile and is not found again has ended since. */
static int explain_end(const struct as_experiment *experiment,
                       const struct as_profile_request *profile, int rc, struct as_error *err)
{
    if (profile->command || rc != AS_ERR_NOT_FOUND)
        return rc;
    return as_error_set(err, AS_ERR_LIMIT,
                        "process %d: it ended before assay attached again, so its loops were not "
                        "measured; its profile is in %s; attach earlier or shorten --duration",
                        (int)profile->pid, as_experiment_path(experiment));
}

int as_clones_run(struct as_experiment *experiment, const struct as_input *input,
                  const struct as_profile_request *profile, const struct as_clones *it,
                  struct as_profile_result *result, struct as_error *err)
{
    const struct as_collector_kind *kinds[AS_COLLECTORS_MOST] = {0};
    struct timed_request request = {.request = *profile, .clones = it};
    list_kinds(kinds);
    request.request.kind = it->kind;
    request.request.role = "repetition";
    request.request.reference_id = it->reference_id;
    request.request.sampling.rate_hz = SAMPLES_HZ;
    request.request.sampling.stacks = AS_STACKS_OFF;
    if (it->sampling)
        request.request.sampling = *it->sampling;
    return explain_end(experiment, profile,
                       as_clones_record(experiment, input, kinds, &request.request, result, err),
                       err);
}

double as_clones_cpu_ns(struct as_experiment *experiment, int64_t run_id)
{
    struct as_rows *rows;
    double ns = 0;
    if (as_rows_open(experiment,
                     "SELECT sum(t.cpu_ns) FROM thread t JOIN process p USING (process_id)"
                     " WHERE p.run_id = ?1",
                     &rows, NULL) < 0)
        return 0;
    as_rows_bind_integer(rows, 1, run_id);
    if (as_rows_next(rows, NULL) > 0)
        ns = as_rows_real(rows, 0);
    as_rows_close(&rows);
    return ns;
}
