/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/wrap/wrapped.h"

#include <dlfcn.h>

#include "agent/core/runtime.h"

const struct as_tracer_hooks *as_wrapped_hooks;
_Atomic uint32_t as_wrapped_waiting[AS_WRAPPED_ROOM];

static uint32_t own_group;

void as_wrapped_begin(uint32_t group_bit)
{
    const struct as_tracer_hooks *hooks = dlsym(RTLD_DEFAULT, "assay_tracer_hooks");
    if (!hooks || hooks->version != AS_TRACER_VERSION || !(hooks->groups() & group_bit))
        return;
    own_group = group_bit;
    as_wrapped_hooks = hooks;
}

struct as_tracer_thread *as_wrapped_thread(void)
{
    return as_wrapped_hooks ? as_wrapped_hooks->enter(own_group) : NULL;
}

void as_wrapped_emit(unsigned kind, unsigned n, uint64_t a, uint64_t b, uint64_t c)
{
    struct as_tracer_thread *t = as_wrapped_thread();
    const uint64_t field[] = {a, b, c};
    if (t)
        as_trace_emit(&t->writer, kind, as_trace_now(&t->writer), field, n < 3 ? n : 3);
}

/* Of two threads that call it first the second finds a number: a call ends as it began. */
static uint64_t number_of_routine(struct as_wrapped *routine)
{
    uint32_t known = atomic_load_explicit(&routine->number, memory_order_relaxed);
    if (known)
        return known;
    const uint32_t given = as_wrapped_hooks->name(routine->group, routine->name);
    return atomic_compare_exchange_strong(&routine->number, &known, given) ? given : known;
}

struct as_tracer_thread *as_wrapped_thread_of(struct as_wrapped *routine)
{
    struct as_tracer_thread *t = as_wrapped_thread();
    if (!t || !(number_of_routine(routine) & AS_TRACER_LEFT_OUT))
        return t;
    as_trace_leave_out(&t->writer);
    return NULL;
}

void as_wrapped_enter(struct as_tracer_thread *t, struct as_wrapped *routine, const void *behind,
                      const void *frame, uint64_t tick)
{
    const uint64_t name = number_of_routine(routine);
    as_trace_emit(&t->writer, AS_TRACE_ENTER, tick, &name, 1);
    as_wrapped_hooks->callers(t, behind, frame);
}

void as_wrapped_leave(struct as_tracer_thread *t, struct as_wrapped *routine, uint64_t tick)
{
    const uint64_t name = number_of_routine(routine);
    as_trace_emit(&t->writer, AS_TRACE_LEAVE, tick, &name, 1);
}

uint64_t as_wrapped_place(const void *behind, const void *frame)
{
    uint64_t caller[AS_TRACE_CALLERS_N];
    const bool known = as_wrapped_thread() && as_wrapped_hooks->find_callers(behind, frame, caller);
    return known ? caller[0] : (uint64_t)(uintptr_t)behind;
}

struct as_tracer_thread *as_wrapped_wait(struct as_wrapped *routine, const void *lock,
                                         unsigned kind, const void *behind, const void *frame)
{
    struct as_tracer_thread *t = as_runtime_owns(behind) ? NULL : as_wrapped_thread_of(routine);
    const uint64_t field[] = {(uint64_t)(uintptr_t)lock, kind};
    if (!t)
        return NULL;
    atomic_fetch_add(as_wrapped_waiters(lock), 1);
    as_wrapped_enter(t, routine, behind, frame, as_trace_now(&t->writer));
    as_trace_emit(&t->writer, AS_TRACE_LOCK_WAIT, 0, field, 2);
    return t;
}

void as_wrapped_waited(struct as_tracer_thread *t, struct as_wrapped *routine, const void *lock,
                       unsigned kind, bool has_it)
{
    const uint64_t tick = as_trace_now(&t->writer);
    const uint64_t field[] = {(uint64_t)(uintptr_t)lock, kind};
    if (has_it)
        as_trace_emit(&t->writer, AS_TRACE_LOCK_HELD, tick, field, 2);
    as_wrapped_leave(t, routine, tick);
    atomic_fetch_sub(as_wrapped_waiters(lock), 1);
}

void as_wrapped_emit_release(struct as_wrapped *routine, const void *lock, unsigned kind,
                             const void *behind, const void *frame)
{
    struct as_tracer_thread *t = as_wrapped_thread_of(routine);
    const uint64_t field[] = {(uint64_t)(uintptr_t)lock, kind};
    if (!t)
        return;
    as_wrapped_enter(t, routine, behind, frame, as_trace_now(&t->writer));
    as_trace_emit(&t->writer, AS_TRACE_LOCK_RELEASED, 0, field, 2);
    as_wrapped_leave(t, routine, 0);
}
