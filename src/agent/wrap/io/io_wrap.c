/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrappers of routines of input, output and processes, a library of its own that is preloaded. They
 * follow from a table (tools/gen-io-wrappers.py); what a call did is told by its result. What is
 * called within a call that is recorded, is not. errno stays what the routine made it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "agent/tracer/tracer.h"

#define AS_IO_API __attribute__((visibility("default")))

struct io_routine {
    const char *name;
    uint32_t group;
};
struct as_io_call {
    struct as_tracer_thread *thread;
    uint64_t tick; /* when it came back; 0: it did not yet */
    int error;     /* errno as it came back */
};

#include AS_IO_MADE

static void *real[ROUTINES_N];
static uint32_t name_of[ROUTINES_N];
static const struct as_tracer_hooks *hooks; /* NULL: not looked for yet, or none */

/* ---- What is behind us -------------------------------------------------------------------- */

/* As the loader would have said. */
static void absent_io(void)
{
    static const char text[] = "assay: a routine was called that is in no library\n";
    (void)!write(2, text, sizeof text - 1);
    _exit(127);
}

static void *real_of(size_t number)
{
    void *at = __atomic_load_n(&real[number], __ATOMIC_RELAXED);
    if (!at) {
        at = dlsym(RTLD_NEXT, routine[number].name);
        at = at ? at : (void *)absent_io;
        __atomic_store_n(&real[number], at, __ATOMIC_RELAXED);
    }
    return at;
}

/* As early as can be: to look something up takes the loader's lock. */
__attribute__((constructor)) static void find_routines(void)
{
    const int saved = errno;
    const struct as_tracer_hooks *found = dlsym(RTLD_DEFAULT, "assay_tracer_hooks");
    for (size_t i = 0; i < ROUTINES_N; i++)
        real_of(i);
    if (found && found->version == AS_TRACER_VERSION && (found->groups() & AS_TRACER_IO))
        __atomic_store_n(&hooks, found, __ATOMIC_RELEASE);
    errno = saved;
}

/* ---- Calls -------------------------------------------------------------------------------- */

static uint32_t number_of_name(size_t number)
{
    const uint32_t known = __atomic_load_n(&name_of[number], __ATOMIC_RELAXED);
    if (known)
        return known;
    const uint32_t given = hooks->name(routine[number].group, routine[number].name);
    __atomic_store_n(&name_of[number], given, __ATOMIC_RELAXED);
    return given;
}

static bool enter_io(struct as_io_call *call, size_t number)
{
    const struct as_tracer_hooks *it = __atomic_load_n(&hooks, __ATOMIC_ACQUIRE);
    call->thread = it ? it->enter(AS_TRACER_IO) : NULL;
    if (!call->thread)
        return false;
    const int saved = errno;
    struct as_trace_writer *w = &call->thread->writer;
    const uint64_t field = number_of_name(number);
    const bool records = !(field & AS_TRACER_LEFT_OUT);
    call->tick = 0;
    if (records) {
        call->thread->inside = 1;
        as_trace_emit(w, AS_TRACE_ENTER, as_trace_now(w), &field, 1);
    } else {
        as_trace_leave_out(w);
    }
    errno = saved;
    return records;
}

static void stamp_io(struct as_io_call *call)
{
    call->error = errno;
    call->tick = as_trace_now(&call->thread->writer);
}

static void leave_io(const struct as_io_call *call, size_t number)
{
    const uint64_t field = name_of[number];
    as_trace_emit(&call->thread->writer, AS_TRACE_LEAVE, call->tick, &field, 1);
    call->thread->inside = 0;
    errno = call->error;
}

/* ---- What they did ------------------------------------------------------------------------ */

/* -1: none, as of a stream in memory. */
static int fd_of(FILE *stream)
{
    const int saved = errno;
    const int fd = stream ? fileno(stream) : -1;
    errno = saved;
    return fd;
}

static int64_t text_bytes(const char *text)
{
    return text ? (int64_t)strlen(text) : -1;
}

static void emit_io_bytes(const struct as_io_call *call, int fd, int64_t size_b, int64_t offset,
                          enum as_trace_io way)
{
    const uint64_t field[] = {(uint64_t)(unsigned)fd, as_trace_zigzag(size_b < 0 ? -1 : size_b),
                              as_trace_zigzag(offset), way};
    as_trace_emit(&call->thread->writer, AS_TRACE_IO, call->tick, field, 4);
}

static void emit_file_open(const struct as_io_call *call, int fd, const char *path)
{
    const uint64_t field = as_trace_zigzag(fd);
    as_trace_emit_text(&call->thread->writer, AS_TRACE_FILE_OPEN, call->tick, &field, 1,
                       path && (fd >= 0 || call->error != EFAULT) ? path : "");
}

static void emit_file_close(const struct as_io_call *call, int fd, int result)
{
    const uint64_t field = (uint64_t)(unsigned)fd;
    if (result == 0 && fd >= 0)
        as_trace_emit(&call->thread->writer, AS_TRACE_FILE_CLOSE, call->tick, &field, 1);
}

static void emit_fork(const struct as_io_call *call, pid_t child)
{
    const uint64_t field = (uint64_t)child;
    if (child > 0)
        as_trace_emit(&call->thread->writer, AS_TRACE_FORK, call->tick, &field, 1);
}

/* Before it: there is no behind. */
static void emit_exec(const struct as_io_call *call, const char *path)
{
    as_trace_emit_text(&call->thread->writer, AS_TRACE_EXEC, 0, NULL, 0, path ? path : "");
    as_trace_writer_stamp(&call->thread->writer);
}

/* ---- The wrappers ------------------------------------------------------------------------- */

#define AS_IO_WRAPPERS
#include AS_IO_MADE
