/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each process has one relation of clocks at a time, from its latest mark to the next. Threads that
 * do not call MPI follow the clock of their process.
 */
#include "simulate/simulated_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "trace/copy.h"

struct copied_thread {
    struct as_trace_stream *stream;
    struct as_trace_writer *writer; /* NULL: not begun, or ended */
    struct as_trace_event event;    /* the next; has_event */
    int64_t event_n;                /* its number, from 1 */
    bool has_event, is_read, is_ended;
};

/* One moment in both clocks. */
struct copied_moment {
    int64_t recorded_ns, simulated_ns;
    int64_t event_n; /* of the thread that calls MPI, until then */
};

struct copied_process {
    const struct as_trace_process *process;
    AS_VEC(struct copied_thread) thread;
    size_t mpi_thread;
    struct copied_moment from, to;
    bool is_begun, is_over; /* before the first mark, after the last one: clocks of one rate */
};

struct as_simulated_trace {
    struct as_trace trace;
    char *directory;
    const struct as_recorded *before;
    AS_VEC(struct copied_process) process; /* by rank */
    int64_t begin_ns;                      /* the simulated time that becomes 0 is before it */
    int failed;                            /* errno of the first stream that broke off */
};

/* ---- Times ----------------------------------------------------------------------------------- */

/* Both marks may have one recorded time: then the end of a call is at the second. */
static int64_t copied_ns(const struct copied_process *p, int64_t recorded_ns, bool is_late)
{
    const struct copied_moment *from = &p->from, *to = &p->to;
    const int64_t recorded = to->recorded_ns - from->recorded_ns;
    const int64_t simulated = to->simulated_ns - from->simulated_ns;
    int64_t ns;
    if (!p->is_begun)
        ns = to->simulated_ns - (to->recorded_ns - recorded_ns);
    else if (p->is_over)
        ns = from->simulated_ns + (recorded_ns - from->recorded_ns);
    else if (recorded <= 0)
        ns = is_late ? to->simulated_ns : from->simulated_ns;
    else if (recorded_ns <= from->recorded_ns)
        ns = from->simulated_ns;
    else if (recorded_ns >= to->recorded_ns)
        ns = to->simulated_ns;
    else
        ns = from->simulated_ns +
             (int64_t)((__int128)(recorded_ns - from->recorded_ns) * simulated / recorded);
    return ns > 0 ? ns : 0;
}

/* A part of the interval between two marks. */
static int64_t copied_length_ns(const struct copied_process *p, int64_t ns)
{
    const int64_t recorded = p->to.recorded_ns - p->from.recorded_ns;
    const int64_t simulated = p->to.simulated_ns - p->from.simulated_ns;
    if (!p->is_begun || p->is_over || recorded == simulated)
        return ns;
    return recorded <= 0 ? 0 : (int64_t)((__int128)ns * simulated / recorded);
}

/* ---- Streams --------------------------------------------------------------------------------- */

static int open_copy(struct as_simulated_trace *copy, const struct as_trace_process *process,
                     const struct as_trace_stream *stream, int64_t begin_ns,
                     struct as_trace_writer **out, struct as_error *err)
{
    const struct as_trace_stream_facts *facts = as_trace_stream_facts(stream);
    char path[PATH_MAX];
    const struct as_trace_writing how = {.path = path,
                                         .pid = facts->pid,
                                         .tid = facts->tid,
                                         .parent_tid = facts->parent_tid,
                                         .clock = AS_TRACE_GIVEN,
                                         .begin_tick = (uint64_t)begin_ns,
                                         .name = facts->name};
    snprintf(path, sizeof path, "%s/" AS_TRACE_PREFIX ".%" PRIu32 ".%" PRIu64 ".%" PRIu32,
             copy->directory, facts->pid, process->begun_ns, facts->tid);
    *out = as_calloc(1, sizeof **out);
    if (!*out)
        return as_error_nomem(err, "the simulated trace");
    const int rc = as_trace_writer_open(*out, &how);
    if (rc == 0)
        return 0;
    as_trace_writer_close(*out, AS_TRACE_REFUSED);
    as_free(*out);
    *out = NULL;
    return as_error_set(err, AS_ERR_IO,
                        "%s: the simulated trace cannot be written: %s; free some space", path,
                        strerror(-rc));
}

/* A stream that broke off has no block any more. */
static void close_copy(struct as_simulated_trace *copy, struct as_trace_writer **writer,
                       int64_t end_ns)
{
    struct as_trace_writer *w = *writer;
    *writer = NULL;
    if (!w)
        return;
    if (w->head && !w->block && !copy->failed)
        copy->failed = w->head->end_errno ? w->head->end_errno : EIO;
    if (end_ns > 0 && (uint64_t)end_ns > w->tick)
        w->tick = (uint64_t)end_ns;
    as_trace_writer_close(w, AS_TRACE_CLOSED);
    as_free(w);
}

/* Relations of clocks are those of the recorded times. */
static int copy_definitions(struct as_simulated_trace *copy, const struct as_trace_process *process,
                            struct as_error *err)
{
    struct as_trace_writer *w;
    struct as_trace_event event;
    int rc = 0;
    if (!process->definitions)
        return 0;
    AS_TRY(as_trace_stream_seek(process->definitions, INT64_MIN, err));
    AS_TRY(open_copy(copy, process, process->definitions, 0, &w, err));
    while ((rc = as_trace_stream_next(process->definitions, &event, err)) > 0)
        if (event.kind != AS_TRACE_RELATED)
            as_trace_copy_event(w, 0, &event);
    close_copy(copy, &w, 0);
    return rc;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static bool ends_call(uint8_t kind)
{
    return kind == AS_TRACE_LEAVE || kind == AS_TRACE_RECEIVE || kind == AS_TRACE_DONE;
}

static void copy_event(const struct copied_process *p, struct copied_thread *t)
{
    struct as_trace_event *event = &t->event;
    const int64_t ns = copied_ns(p, event->raw_ns, ends_call(event->kind));
    if (event->kind == AS_TRACE_SAMPLE) {
        event->sample.period_ns = copied_length_ns(p, event->sample.period_ns);
        if (event->sample.period_ns <= 0)
            return;
    }
    if (event->kind == AS_TRACE_REPEATED) {
        event->repeated.inside_ns = copied_length_ns(p, event->repeated.inside_ns);
        event->repeated.longest_ns = copied_length_ns(p, event->repeated.longest_ns);
    }
    as_trace_copy_event(t->writer, (uint64_t)ns, event);
}

static int read_copied(struct copied_thread *t, struct as_error *err)
{
    if (t->has_event || t->is_read)
        return 0;
    const int rc = as_trace_stream_next(t->stream, &t->event, err);
    t->has_event = rc > 0;
    t->is_read = rc == 0;
    t->event_n += rc > 0;
    return rc < 0 ? rc : 0;
}

/* Returns true if the next event is not after the later mark. */
static bool is_within(const struct copied_process *p, const struct copied_thread *t)
{
    if (p->is_over)
        return true;
    return t == &p->thread.at[p->mpi_thread] ? t->event_n <= p->to.event_n
                                             : t->event.raw_ns <= p->to.recorded_ns;
}

/* Copies a thread's events up to the later mark. */
static int copy_thread(struct as_simulated_trace *copy, const struct copied_process *p,
                       struct copied_thread *t, struct as_error *err)
{
    const struct as_trace_stream_facts *facts = as_trace_stream_facts(t->stream);
    while (!t->is_ended) {
        AS_TRY(read_copied(t, err));
        if (t->has_event ? !is_within(p, t) : !p->is_over && facts->end_raw_ns > p->to.recorded_ns)
            return 0;
        if (!t->writer)
            AS_TRY(open_copy(copy, p->process, t->stream, copied_ns(p, facts->begin_raw_ns, false),
                             &t->writer, err));
        if (t->has_event)
            copy_event(p, t);
        else
            close_copy(copy, &t->writer, copied_ns(p, facts->end_raw_ns, true));
        t->is_ended = !t->has_event;
        t->has_event = false;
    }
    return 0;
}

static int copy_interval(struct as_simulated_trace *copy, struct copied_process *p,
                         struct as_error *err)
{
    as_vec_foreach (&p->thread, thread)
        AS_TRY(copy_thread(copy, p, thread, err));
    return 0;
}

static int on_mark(void *context, uint32_t rank, const struct as_action *mark, int64_t now_ns,
                   struct as_error *err)
{
    struct as_simulated_trace *copy = context;
    struct copied_process *p = &copy->process.at[rank];
    p->from = p->to;
    p->to = (struct copied_moment){mark->ns, copy->begin_ns + now_ns, mark->request};
    AS_TRY(copy_interval(copy, p, err));
    p->is_begun = true;
    return 0;
}

/* ---- Both ends ------------------------------------------------------------------------------- */

static int add_copied_process(struct as_simulated_trace *copy,
                              const struct as_trace_process *process,
                              const struct as_simulated_program *program, struct as_error *err)
{
    const uint32_t rank = (uint32_t)copy->process.n, tid = as_recorded_tid(program, rank);
    const int64_t begin_ns = copy->before->rank.at[rank].begin_ns;
    if (as_vec_push(&copy->process, (struct copied_process){.process = process}) < 0)
        return as_error_nomem(err, "the simulated trace");
    struct copied_process *p = &copy->process.at[rank];
    as_vec_foreach (&process->thread, stream) {
        const struct as_trace_stream_facts *facts = as_trace_stream_facts(*stream);
        const int64_t ahead_ns = begin_ns - facts->begin_raw_ns;
        copy->begin_ns = ahead_ns > copy->begin_ns ? ahead_ns : copy->begin_ns;
        if (facts->tid == tid)
            p->mpi_thread = p->thread.n;
        if (as_vec_push(&p->thread, (struct copied_thread){.stream = *stream}) < 0)
            return as_error_nomem(err, "the simulated trace");
        AS_TRY(as_trace_stream_seek(*stream, INT64_MIN, err));
    }
    return copy_definitions(copy, process, err);
}

static int begin_copy(struct as_simulated_trace *copy, const char *streams, const char *directory,
                      const struct as_simulated_program *program, struct as_error *err)
{
    copy->directory = as_malloc(strlen(directory) + 1);
    if (!copy->directory)
        return as_error_nomem(err, "the simulated trace");
    memcpy(copy->directory, directory, strlen(directory) + 1);
    AS_TRY(as_trace_open(streams, &copy->trace, err));
    as_vec_foreach (&copy->trace.process, process)
        if (process->rank >= 0)
            AS_TRY(add_copied_process(copy, process, program, err));
    return 0;
}

int as_simulated_trace_begin(const char *streams, const char *directory,
                             const struct as_recorded *before, struct as_simulated_program *program,
                             struct as_simulated_trace **out, struct as_error *err)
{
    struct as_simulated_trace *copy = *out = as_calloc(1, sizeof *copy);
    if (!copy)
        return as_error_nomem(err, "the simulated trace");
    copy->before = before;
    as_recorded_mark(program, before);
    program->mark = on_mark;
    program->mark_context = copy;
    return begin_copy(copy, streams, directory, program, err);
}

/* The events after the last mark. */
static int copy_rest(struct as_simulated_trace *copy, struct as_error *err)
{
    as_vec_foreach (&copy->process, p) {
        p->from = p->to;
        p->is_over = true;
        AS_TRY(copy_interval(copy, p, err));
    }
    return 0;
}

int as_simulated_trace_end(struct as_simulated_trace **out, int rc, struct as_error *err)
{
    struct as_simulated_trace *copy = *out;
    *out = NULL;
    if (!copy)
        return rc;
    if (rc == 0)
        rc = copy_rest(copy, err);
    as_vec_foreach (&copy->process, p) {
        as_vec_foreach (&p->thread, thread)
            close_copy(copy, &thread->writer, 0);
        as_vec_fini(&p->thread);
    }
    as_vec_fini(&copy->process);
    as_trace_close(&copy->trace);
    if (rc == 0 && copy->failed)
        rc = as_error_set(err, AS_ERR_IO,
                          "%s: the simulated trace cannot be written: %s; free some space",
                          copy->directory, strerror(copy->failed));
    as_free(copy->directory);
    as_free(copy);
    return rc;
}
