/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of memory as a source of observation: the agent writes when they begin and end, and the
 * call stacks of their allocations. They are read while the program runs, and go to the recorder as
 * records. A program that cannot be preloaded is recorded without them, which a flag says.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/inject/objects_read.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "profile/agent_session.h"
#include "sample/timer_session.h"

struct observed {
    struct as_inside inside;
    struct as_objects_part *part; /* NULL: the program cannot be preloaded */
    struct as_str preload;
    struct as_objects_logs logs;
    struct as_error why;      /* it cannot */
    char directory[PATH_MAX]; /* of the agent, whoever made it; "": there is none */
    uint32_t own_n;
};

static bool objects_are_wanted(const struct as_collection *all)
{
    return all->request->objects && all->plan;
}

/* ---- Beginning ----------------------------------------------------------------------------- */

static int join_agent(struct observed *observed, struct as_collector *it,
                      const struct as_collection *all, struct as_error *err)
{
    AS_TRY(as_inside_join(&observed->inside, it, all, err));
    observed->part = as_agent_session_part(observed->inside.session, AS_OBJECTS_CLIENT);
    if (!observed->part)
        return as_error_set(err, AS_ERR_LIMIT, "the agent has no slot left for objects");
    snprintf(observed->directory, sizeof observed->directory, "%s",
             as_agent_session_path(observed->inside.session));
    const char *agent = observed->inside.session->preload, *slash = strrchr(agent, '/');
    as_str_appendf(&observed->preload, "%s%s%.*s/" AS_OBJECTS_LIBRARY,
                   it->preload ? it->preload : "", it->preload ? ":" : "", (int)(slash - agent),
                   agent);
    if (observed->preload.failed)
        return as_error_nomem(err, "the libraries of objects");
    it->preload = as_str_z(&observed->preload);
    return 0;
}

static int prepare_objects(struct as_collector *it, const struct as_collection *all,
                           const struct as_error *why, struct as_error *err)
{
    struct observed *observed;
    (void)why;
    it->self = observed = as_calloc(1, sizeof *observed);
    if (!observed)
        return as_error_nomem(err, "objects");
    observed->inside.own.control_fd = -1;
    if (as_preload_check(all->plan->path, "asked for its objects", "", &observed->why) < 0)
        return 0;
    return join_agent(observed, it, all, err);
}

/* ---- While it runs ------------------------------------------------------------------------- */

struct objects_reading {
    const struct as_collection *all;
    struct as_error *err;
};

static int record_object(void *context, const struct as_object_record *told)
{
    static const uint8_t kind[] = {[AS_OBJECT_ALLOCATED] = AS_SAMPLE_ALLOCATE,
                                   [AS_OBJECT_MAPPED] = AS_SAMPLE_ALLOCATE,
                                   [AS_OBJECT_RELEASED] = AS_SAMPLE_RELEASE,
                                   [AS_OBJECT_FORKED] = AS_SAMPLE_INHERIT};
    _Static_assert(sizeof kind / sizeof *kind == AS_OBJECT_FORKED + 1,
                   "an entry for each of the enumeration");
    const struct objects_reading *to = context;
    struct as_sample_record record = {.kind = kind[told->kind],
                                      .pid = told->pid,
                                      .tid = told->pid,
                                      .parent_pid = told->pid,
                                      .time_ns = told->time_ns,
                                      .address = told->address,
                                      .size_b = told->size_b,
                                      .mapped = told->kind == AS_OBJECT_MAPPED,
                                      .site = told->site,
                                      .chain = told->caller,
                                      .chain_n = told->caller_n};
    if (told->kind == AS_OBJECT_FORKED)
        record.pid = record.tid = (uint32_t)told->address;
    return to->all->sink(to->all->context, &record, to->err);
}

/* `pid` 0: of all processes. */
static int read_objects(struct observed *observed, const struct as_collection *all, uint32_t pid,
                        bool last, struct as_error *err)
{
    const char *path = observed->part ? as_inside_path(&observed->inside, all) : NULL;
    struct objects_reading to = {all, err};
    if (path && as_objects_find(&observed->logs, path) < 0)
        return as_error_nomem(err, "the objects of a run");
    return as_objects_drain(&observed->logs, pid, last, record_object, &to);
}

static int pump_objects(struct as_collector *it, struct as_collection *all, bool last,
                        struct as_error *err)
{
    return read_objects(it->self, all, 0, last, err);
}

/* Before a program goes, so that its code is still known. */
static int on_process_end(struct as_collector *it, const struct as_collection *all,
                          const struct as_sample_record *record, struct as_error *err)
{
    struct observed *observed = it->self;
    const bool exits = record->kind == AS_SAMPLE_EXIT && record->pid == record->tid;
    if (!observed->part || !(exits || (record->kind == AS_SAMPLE_COMM && record->out)))
        return 0;
    AS_TRY(read_objects(observed, all, record->pid, false, err));
    as_objects_close(&observed->logs, record->pid, record->time_ns);
    return 0;
}

static int finish_objects(struct as_collector *it, const struct as_collection *all,
                          struct as_error *err)
{
    struct observed *observed = it->self;
    (void)all;
    (void)err;
    observed->own_n = observed->part ? observed->part->own_n : 0;
    return 0;
}

/* ---- The end ------------------------------------------------------------------------------- */

struct objects_writing {
    const struct observed *observed;
    struct as_experiment *experiment;
    int64_t run_id;
};

static int flag_objects(const struct objects_writing *to, const char *name, uint64_t n,
                        const char *text, struct as_error *err)
{
    const struct as_flag flag = {.run_id = to->run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = to->run_id,
                                 .name = name,
                                 .text = text,
                                 .n = (int64_t)n};
    return n ? as_experiment_flag(to->experiment, &flag, err) : 0;
}

static int write_flags(void *context, struct as_error *err)
{
    const struct objects_writing *to = context;
    const struct observed *observed = to->observed;
    AS_TRY(flag_objects(to, "objects_unknown", observed->part ? 0 : 1, observed->why.text, err));
    AS_TRY(flag_objects(to, "objects_own_allocator", observed->own_n,
                        "processes use their own allocator: their objects have no allocation sites",
                        err));
    AS_TRY(flag_objects(to, "objects_lost", observed->logs.lost + observed->logs.sites_lost,
                        "allocations were too fast to record: some objects have a wrong "
                        "allocation site or none",
                        err));
    return flag_objects(to, "objects_damaged", observed->logs.damaged,
                        "records of objects are invalid: the program overwrote them", err);
}

static int note_objects(struct as_collector *it, const struct as_collection *all,
                        struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    struct objects_writing to = {it->self, experiment, run_id};
    (void)all;
    return as_experiment_batch(experiment, write_flags, &to, err);
}

/* For others that want to be in the program. */
static struct as_agent_session *session_of_objects(const struct as_collector *it)
{
    const struct observed *observed = it->self;
    return observed->inside.directory[0] ? observed->inside.session : NULL;
}

static void close_objects(struct as_collector *it)
{
    struct observed *observed = it->self;
    if (!observed)
        return;
    if (observed->directory[0]) /* of a program that goes on: names are removed */
        (void)as_objects_find(&observed->logs, observed->directory);
    as_objects_logs_fini(&observed->logs);
    as_inside_leave(&observed->inside);
    if (observed->directory[0]) /* whoever made it could not, if one of these names was left */
        (void)rmdir(observed->directory);
    as_str_fini(&observed->preload);
    as_free(observed);
}

extern const struct as_collector_kind as_collector_objects;
const struct as_collector_kind as_collector_objects = {.name = "objects",
                                                       .is_wanted = objects_are_wanted,
                                                       .prepare = prepare_objects,
                                                       .pump = pump_objects,
                                                       .meet = on_process_end,
                                                       .finish = finish_objects,
                                                       .facts = note_objects,
                                                       .session = session_of_objects,
                                                       .close = close_objects};
