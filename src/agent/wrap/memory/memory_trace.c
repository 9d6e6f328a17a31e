/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the allocator as events of a trace; see memory_wrap.h. */
#include "agent/wrap/memory/memory_wrap.h"

#include <dlfcn.h>
#include <errno.h>

static const struct as_tracer_hooks *hooks; /* NULL: not looked for yet, or none */
static uint32_t name_of[AS_MEMORY_ROUTINES_N];

static const char *const names[] = {
#define NAME(routine, symbol, name) [AS_MEMORY_##routine] = name,
    AS_MEMORY_ROUTINES(NAME) AS_MEMORY_NEWS(NAME) AS_MEMORY_DELETES(NAME)
#undef NAME
};

__attribute__((constructor)) static void find_tracer(void)
{
    const int saved = errno;
    const struct as_tracer_hooks *found = dlsym(RTLD_DEFAULT, "assay_tracer_hooks");
    as_memory_real(AS_MEMORY_MALLOC);
    if (found && found->version == AS_TRACER_VERSION && (found->groups() & AS_TRACER_MEMORY)) {
        hooks = found;
        as_memory_min_b = found->memory_least();
    }
    errno = saved;
}

/* ---- Records ------------------------------------------------------------------------------ */

static uint32_t number_of_routine(enum as_memory_routine routine)
{
    const uint32_t known = __atomic_load_n(&name_of[routine], __ATOMIC_RELAXED);
    if (known)
        return known;
    const uint32_t given = hooks->name(AS_TRACE_OF_MEMORY, names[routine]);
    __atomic_store_n(&name_of[routine], given, __ATOMIC_RELAXED);
    return given;
}

bool as_memory_enter(struct as_memory_call *call, enum as_memory_routine routine)
{
    const int saved = errno;
    call->thread = hooks ? hooks->enter(AS_TRACER_MEMORY) : NULL;
    if (call->thread) {
        call->thread->inside = 1;
        call->routine = routine;
        call->enter = as_trace_now(&call->thread->writer);
    }
    errno = saved;
    return call->thread != NULL;
}

/* False: the user's filter leaves it out. */
static bool write_call(const struct as_memory_call *call, unsigned kind, const uint64_t *field,
                       unsigned n)
{
    struct as_trace_writer *w = &call->thread->writer;
    const uint64_t name = number_of_routine(call->routine);
    if (name & AS_TRACER_LEFT_OUT) {
        as_trace_leave_out(w);
        return false;
    }
    as_trace_emit(w, AS_TRACE_ENTER, call->enter, &name, 1);
    as_trace_emit(w, kind, 0, field, n);
    return true;
}

static void end_call(const struct as_memory_call *call, bool is_told)
{
    struct as_trace_writer *w = &call->thread->writer;
    const uint64_t name = name_of[call->routine];
    if (is_told)
        as_trace_emit(w, AS_TRACE_LEAVE, as_trace_now(w), &name, 1);
    call->thread->inside = 0;
}

void as_memory_gave(const struct as_memory_call *call, void *block, size_t size_b)
{
    const int saved = errno;
    const uint64_t field[] = {(uintptr_t)block, size_b};
    end_call(call,
             as_memory_is_recorded(block, size_b) && write_call(call, AS_TRACE_ALLOCATE, field, 2));
    errno = saved;
}

void as_memory_took(const struct as_memory_call *call, const void *block)
{
    const int saved = errno;
    const uint64_t field = (uintptr_t)block;
    end_call(call, write_call(call, AS_TRACE_RELEASE, &field, 1));
    errno = saved;
}

/* One call with two records: the old block is gone first. */
void as_memory_resized(const struct as_memory_call *call, const void *before, void *now,
                       size_t size_b)
{
    const int saved = errno;
    const uint64_t taken = (uintptr_t)before, given[] = {(uintptr_t)now, size_b};
    const bool takes = before && (now || size_b == 0);
    const bool gives = (now || size_b) && as_memory_is_recorded(now, size_b);
    const bool is_told = takes   ? write_call(call, AS_TRACE_RELEASE, &taken, 1)
                         : gives ? write_call(call, AS_TRACE_ALLOCATE, given, 2)
                                 : false;
    if (is_told && takes && gives)
        as_trace_emit(&call->thread->writer, AS_TRACE_ALLOCATE, 0, given, 2);
    end_call(call, is_told);
    errno = saved;
}

void as_memory_mapped(const struct as_memory_call *call, const void *at, size_t size_b, int flags)
{
    const int saved = errno;
    const uint64_t field[] = {(uintptr_t)at, size_b};
    (void)flags;
    end_call(call, write_call(call, AS_TRACE_ALLOCATE, field, 2));
    errno = saved;
}
