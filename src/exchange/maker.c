/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/maker.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "trace/write.h"

struct maker_process {
    struct as_trace_writer *definitions;
    uint32_t threads_n;
};

struct as_trace_maker {
    char *directory;
    AS_VEC(struct maker_process) process;
    AS_VEC(struct as_trace_writer *) thread;
    int failed; /* errno of the first stream that failed; 0: none */
};

static const char *const signature_of[] = {NULL,
#define SIGNATURE(kind, name, fields) fields,
                                           AS_TRACE_KINDS(SIGNATURE)
#undef SIGNATURE
};

int as_maker_new(const char *directory, struct as_trace_maker **out, struct as_error *err)
{
    struct as_trace_maker *m = *out = as_calloc(1, sizeof *m);
    if (m)
        m->directory = as_malloc(strlen(directory) + 1);
    if (!m || !m->directory) {
        as_maker_free(out);
        return as_error_nomem(err, "a trace");
    }
    memcpy(m->directory, directory, strlen(directory) + 1);
    return 0;
}

/* Closes a stream and keeps its failure. A failed stream has no block any more. */
static void close_writer(struct as_trace_maker *m, struct as_trace_writer **writer)
{
    struct as_trace_writer *w = *writer;
    *writer = NULL;
    if (!w)
        return;
    if (w->head && !w->block && !m->failed)
        m->failed = w->head->end_errno ? w->head->end_errno : 1;
    as_trace_writer_close(w, AS_TRACE_CLOSED);
    as_free(w);
}

void as_maker_free(struct as_trace_maker **maker)
{
    struct as_trace_maker *m = *maker;
    *maker = NULL;
    if (!m)
        return;
    as_vec_foreach (&m->thread, thread)
        close_writer(m, thread);
    as_vec_foreach (&m->process, process)
        close_writer(m, &process->definitions);
    as_vec_fini(&m->thread);
    as_vec_fini(&m->process);
    as_free(m->directory);
    as_free(m);
}

/* Opens a stream. Processes get made-up numbers from 1, and so do the threads of each. */
static int open_stream(struct as_trace_maker *m, uint32_t process, uint32_t tid, const char *name,
                       int64_t begin_ns, struct as_trace_writer **out, struct as_error *err)
{
    char path[PATH_MAX];
    const struct as_trace_writing how = {.path = path,
                                         .pid = process + 1,
                                         .tid = tid,
                                         .clock = AS_TRACE_GIVEN,
                                         .begin_tick = (uint64_t)begin_ns,
                                         .name = name};
    snprintf(path, sizeof path, "%s/" AS_TRACE_PREFIX ".%" PRIu32 ".0.%" PRIu32, m->directory,
             process + 1, tid);
    *out = as_calloc(1, sizeof **out);
    if (!*out)
        return as_error_nomem(err, "a trace");
    const int rc = as_trace_writer_open(*out, &how);
    if (rc == 0)
        return 0;
    as_trace_writer_close(*out, AS_TRACE_REFUSED);
    as_free(*out);
    *out = NULL;
    return as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s", path, strerror(-rc));
}

int as_maker_add_process(struct as_trace_maker *m, const char *machine, uint32_t *process,
                         struct as_error *err)
{
    *process = (uint32_t)m->process.n;
    if (as_vec_push(&m->process, (struct maker_process){0}) < 0)
        return as_error_nomem(err, "a trace");
    return open_stream(m, *process, 0, machine, 0, &m->process.at[*process].definitions, err);
}

int as_maker_add_thread(struct as_trace_maker *m, uint32_t process, const char *name,
                        int64_t begin_ns, uint32_t *thread, struct as_error *err)
{
    *thread = (uint32_t)m->thread.n;
    if (*thread >= AS_MAKER_THREADS_MOST)
        return as_error_set(err, AS_ERR_LIMIT,
                            "the trace has more than %u threads; cut some out before the import",
                            AS_MAKER_THREADS_MOST);
    if (as_vec_push(&m->thread, NULL) < 0)
        return as_error_nomem(err, "a trace");
    return open_stream(m, process, ++m->process.at[process].threads_n, name, begin_ns,
                       &m->thread.at[*thread], err);
}

/* ---- Definitions ----------------------------------------------------------------------------- */

void as_maker_world(struct as_trace_maker *m, uint32_t process, uint64_t rank, uint64_t size)
{
    assert(process < m->process.n);
    const uint64_t field[] = {rank, size, 0};
    as_trace_emit(m->process.at[process].definitions, AS_TRACE_WORLD, 0, field, 3);
}

/* Returns true for thread calls that sleep. Other formats only separate thread calls from MPI and
 * files. */
static bool is_sleep(const char *text)
{
    static const char *const names[] = {
        "nanosleep",  "clock_nanosleep", "usleep",      "sleep",        "thrd_sleep", "pause",
        "sigsuspend", "sigwait",         "sigwaitinfo", "sigtimedwait", "poll",       "ppoll",
        "select",     "pselect",         "epoll_wait",  "epoll_pwait"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0)
            return true;
    return false;
}

void as_maker_name(struct as_trace_maker *m, uint32_t process, uint64_t number, uint32_t group,
                   const char *text)
{
    assert(process < m->process.n);
    const bool sleeps = group == AS_TRACE_OF_THREAD && is_sleep(text);
    const uint64_t field[] = {number, sleeps ? AS_TRACE_OF_SLEEP : group};
    as_trace_emit_text(m->process.at[process].definitions, AS_TRACE_NAME, 0, field, 2, text);
}

void as_maker_comm(struct as_trace_maker *m, uint32_t process, uint64_t comm, uint64_t global,
                   uint64_t rank, const uint64_t *member, size_t member_n, const char *name)
{
    assert(process < m->process.n);
    struct as_trace_writer *w = m->process.at[process].definitions;
    const uint64_t field[] = {comm, global, member_n, rank, 0};
    if (!as_trace_emit_list(w, AS_TRACE_COMM, 0, field, 5, member, member_n)) {
        /* With too many members only their number is stored. */
        const uint64_t cut[] = {comm, global, member_n, rank, AS_TRACE_CUT};
        as_trace_emit_list(w, AS_TRACE_COMM, 0, cut, 5, NULL, 0);
    }
    if (name && *name)
        as_trace_emit_text(w, AS_TRACE_COMM_NAME, 0, field, 1, name);
}

void as_maker_grid(struct as_trace_maker *m, uint32_t process, uint64_t comm, const uint64_t *list,
                   size_t dimensions_n)
{
    assert(process < m->process.n);
    as_trace_emit_list(m->process.at[process].definitions, AS_TRACE_GRID, 0, &comm, 1, list,
                       3 * dimensions_n);
}

void as_maker_window(struct as_trace_maker *m, uint32_t process, uint64_t window, uint64_t comm)
{
    assert(process < m->process.n);
    const uint64_t field[] = {window, comm};
    as_trace_emit(m->process.at[process].definitions, AS_TRACE_WINDOW, 0, field, 2);
}

/* Appends a line of the text of a position. */
static void add_line_of(struct as_str *text, struct as_view line)
{
    for (size_t i = 0; i < line.n; i++)
        as_str_append(text, line.p[i] == '\n' ? " " : line.p + i, 1);
    as_str_append(text, "\n", 1);
}

void as_maker_place(struct as_trace_maker *m, uint32_t process, uint64_t number, uint32_t line,
                    const struct as_made_place *place)
{
    assert(process < m->process.n);
    const uint64_t field[] = {number, line};
    struct as_str text = {0};
    add_line_of(&text, place->function);
    add_line_of(&text, place->file);
    add_line_of(&text, place->code);
    if (!text.failed)
        as_trace_emit_text(m->process.at[process].definitions, AS_TRACE_PLACE, 0, field, 2,
                           as_str_z(&text));
    as_str_fini(&text);
}

void as_maker_function(struct as_trace_maker *m, uint32_t process, uint64_t name, uint64_t place)
{
    assert(process < m->process.n);
    const uint64_t field[] = {name, place};
    as_trace_emit(m->process.at[process].definitions, AS_TRACE_FUNCTION, 0, field, 2);
}

void as_maker_fact(struct as_trace_maker *m, uint32_t process, const char *key, const char *value)
{
    assert(process < m->process.n);
    struct as_str both = {0};
    as_str_appendz(&both, key);
    as_str_append(&both, "", 1);
    as_str_appendz(&both, value);
    if (!both.failed)
        as_trace_emit_text(m->process.at[process].definitions, AS_TRACE_FACT, 0, NULL, 0,
                           as_str_z(&both));
    as_str_fini(&both);
}

/* ---- Records --------------------------------------------------------------------------------- */

void as_maker_emit(struct as_trace_maker *m, uint32_t thread, enum as_trace_kind kind, int64_t ns,
                   const int64_t *field)
{
    const char *of = signature_of[kind];
    uint64_t plain[AS_TRACE_FIELDS_N];
    unsigned n = 0;
    for (; of[n] == 'u' || of[n] == 's'; n++)
        plain[n] = of[n] == 's' ? as_trace_zigzag(field[n]) : (uint64_t)field[n];
    if (of[n] == 0)
        as_trace_emit(m->thread.at[thread], kind, (uint64_t)ns, plain, n);
}

void as_maker_callers(struct as_trace_maker *m, uint32_t thread, const uint64_t *place, size_t n)
{
    assert(thread < m->thread.n);
    as_trace_emit_list(m->thread.at[thread], AS_TRACE_CALLERS, 0, NULL, 0, place, n);
}

void as_maker_sample(struct as_trace_maker *m, uint32_t thread, int64_t ns, int64_t period_ns,
                     const uint64_t *place, size_t n)
{
    assert(thread < m->thread.n);
    as_trace_sample(m->thread.at[thread], (uint64_t)ns, (uint64_t)period_ns, place, (unsigned)n,
                    false);
}

void as_maker_end_thread(struct as_trace_maker *m, uint32_t thread, int64_t end_ns)
{
    assert(thread < m->thread.n);
    struct as_trace_writer *w = m->thread.at[thread];
    if (!w)
        return;
    if (end_ns > 0 && (uint64_t)end_ns > w->tick)
        w->tick = (uint64_t)end_ns;
    close_writer(m, &m->thread.at[thread]);
}

int as_maker_finish(struct as_trace_maker *m, struct as_error *err)
{
    as_vec_foreach (&m->thread, thread)
        close_writer(m, thread);
    as_vec_foreach (&m->process, process)
        close_writer(m, &process->definitions);
    if (!m->failed)
        return 0;
    return as_error_set(err, AS_ERR_IO,
                        "%s: the imported trace cannot be written: %s; free some space and import "
                        "again",
                        m->directory, strerror(m->failed));
}
