/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks and critical sections of OpenMP, of libgomp and libomp alike. A lock is tried first. A
 * critical section cannot be tried: who comes is counted, and waits if somebody was there before.
 */
#include <stddef.h>

#include "agent/wrap/openmp/omp.h"

/* ---- Locks -------------------------------------------------------------------------------- */

/* `tried` is 0 where another has it. */
#define LOCK_ROUTINES(set, test, unset)                                                            \
    AS_WRAPPER void set(void *lock);                                                               \
    AS_WRAPPER void unset(void *lock);                                                             \
    int test(void *lock);                                                                          \
    AS_WRAPPER void set(void *lock)                                                                \
    {                                                                                              \
        static struct as_wrapped routine = {#set, AS_TRACE_OF_LOCK, 0};                            \
        if (!as_wrapped_hooks) {                                                                   \
            AS_OMP_REAL(set)(lock);                                                                \
            return;                                                                                \
        }                                                                                          \
        if (AS_OMP_REAL(test)(lock))                                                               \
            return;                                                                                \
        struct as_tracer_thread *t =                                                               \
            as_wrapped_wait(&routine, lock, AS_TRACE_OMP_LOCK, AS_CALLED);                         \
        AS_OMP_REAL(set)(lock);                                                                    \
        if (t)                                                                                     \
            as_wrapped_waited(t, &routine, lock, AS_TRACE_OMP_LOCK, true);                         \
    }                                                                                              \
    AS_WRAPPER void unset(void *lock)                                                              \
    {                                                                                              \
        static struct as_wrapped routine = {#unset, AS_TRACE_OF_LOCK, 0};                          \
        as_wrapped_release(&routine, lock, AS_TRACE_OMP_LOCK, AS_CALLED);                          \
        AS_OMP_REAL(unset)(lock);                                                                  \
    }

LOCK_ROUTINES(omp_set_lock, omp_test_lock, omp_unset_lock)
LOCK_ROUTINES(omp_set_nest_lock, omp_test_nest_lock, omp_unset_nest_lock)
LOCK_ROUTINES(omp_set_lock_, omp_test_lock_, omp_unset_lock_)
LOCK_ROUTINES(omp_set_nest_lock_, omp_test_nest_lock_, omp_unset_nest_lock_)

/* ---- Critical sections -------------------------------------------------------------------- */

/* Threads that are in a section or on the way into it, by its address. */
static _Atomic uint32_t inside[AS_WRAPPED_ROOM];
static const char unnamed_section, atomic_section, ordered_section; /* their addresses */

static struct as_wrapped critical = {"omp critical", AS_TRACE_OF_LOCK, 0};
static struct as_wrapped critical_end = {"omp critical end", AS_TRACE_OF_LOCK, 0};
static struct as_wrapped ordered = {"omp ordered", AS_TRACE_OF_LOCK, 0};
static struct as_wrapped ordered_end = {"omp ordered end", AS_TRACE_OF_LOCK, 0};

static _Atomic uint32_t *those_inside(const void *section)
{
    return &inside[as_wrapped_waiters(section) - as_wrapped_waiting];
}

/* NULL: nobody is there, or it is not recorded. */
static struct as_tracer_thread *come_to(const void *section, const void *behind, const void *frame)
{
    if (!as_wrapped_hooks || atomic_fetch_add(those_inside(section), 1) == 0)
        return NULL;
    return as_wrapped_wait(&critical, section, AS_TRACE_CRITICAL, behind, frame);
}

static void come_into(struct as_tracer_thread *t, const void *section)
{
    if (t)
        as_wrapped_waited(t, &critical, section, AS_TRACE_CRITICAL, true);
}

static void leave_section(const void *section, const void *behind, const void *frame)
{
    if (as_wrapped_hooks)
        as_wrapped_release(&critical_end, section, AS_TRACE_CRITICAL, behind, frame);
}

static void have_left(const void *section)
{
    if (as_wrapped_hooks)
        atomic_fetch_sub(those_inside(section), 1);
}

#define SECTION_BEGIN(section, call)                                                               \
    do {                                                                                           \
        struct as_tracer_thread *t = come_to(section, AS_CALLED);                                  \
        call;                                                                                      \
        come_into(t, section);                                                                     \
    } while (0)
#define SECTION_END(section, call)                                                                 \
    do {                                                                                           \
        leave_section(section, AS_CALLED);                                                         \
        call;                                                                                      \
        have_left(section);                                                                        \
    } while (0)

AS_WRAPPER void GOMP_critical_start(void);
AS_WRAPPER void GOMP_critical_start(void)
{
    SECTION_BEGIN(&unnamed_section, AS_OMP_REAL(GOMP_critical_start)());
}

AS_WRAPPER void GOMP_critical_end(void);
AS_WRAPPER void GOMP_critical_end(void)
{
    SECTION_END(&unnamed_section, AS_OMP_REAL(GOMP_critical_end)());
}

AS_WRAPPER void GOMP_critical_name_start(void **name);
AS_WRAPPER void GOMP_critical_name_start(void **name)
{
    SECTION_BEGIN(name, AS_OMP_REAL(GOMP_critical_name_start)(name));
}

AS_WRAPPER void GOMP_critical_name_end(void **name);
AS_WRAPPER void GOMP_critical_name_end(void **name)
{
    SECTION_END(name, AS_OMP_REAL(GOMP_critical_name_end)(name));
}

AS_WRAPPER void GOMP_atomic_start(void);
AS_WRAPPER void GOMP_atomic_start(void)
{
    SECTION_BEGIN(&atomic_section, AS_OMP_REAL(GOMP_atomic_start)());
}

AS_WRAPPER void GOMP_atomic_end(void);
AS_WRAPPER void GOMP_atomic_end(void)
{
    SECTION_END(&atomic_section, AS_OMP_REAL(GOMP_atomic_end)());
}

AS_WRAPPER void __kmpc_critical(void *place, int thread, void *name);
AS_WRAPPER void __kmpc_critical(void *place, int thread, void *name)
{
    SECTION_BEGIN(name, AS_OMP_REAL(__kmpc_critical)(place, thread, name));
}

AS_WRAPPER void __kmpc_critical_with_hint(void *place, int thread, void *name, uint32_t hint);
AS_WRAPPER void __kmpc_critical_with_hint(void *place, int thread, void *name, uint32_t hint)
{
    SECTION_BEGIN(name, AS_OMP_REAL(__kmpc_critical_with_hint)(place, thread, name, hint));
}

AS_WRAPPER void __kmpc_end_critical(void *place, int thread, void *name);
AS_WRAPPER void __kmpc_end_critical(void *place, int thread, void *name)
{
    SECTION_END(name, AS_OMP_REAL(__kmpc_end_critical)(place, thread, name));
}

/* ---- Ordered ------------------------------------------------------------------------------ */

/* Each waits for its turn, and is followed by who has the next. Of a team the address is that of
 * nothing: its region's number. */
static const void *turn_of_region(void)
{
    return as_omp_self.region ? (const void *)(uintptr_t)as_omp_self.region : &ordered_section;
}

static struct as_tracer_thread *come_to_turn(const void *behind, const void *frame)
{
    return as_wrapped_hooks
               ? as_wrapped_wait(&ordered, turn_of_region(), AS_TRACE_ORDERED, behind, frame)
               : NULL;
}

static void have_turn(struct as_tracer_thread *t)
{
    if (t)
        as_wrapped_waited(t, &ordered, turn_of_region(), AS_TRACE_ORDERED, true);
}

AS_WRAPPER void GOMP_ordered_start(void);
AS_WRAPPER void GOMP_ordered_start(void)
{
    struct as_tracer_thread *t = come_to_turn(AS_CALLED);
    AS_OMP_REAL(GOMP_ordered_start)();
    have_turn(t);
}

AS_WRAPPER void GOMP_ordered_end(void);
AS_WRAPPER void GOMP_ordered_end(void)
{
    as_wrapped_release(&ordered_end, turn_of_region(), AS_TRACE_ORDERED, AS_CALLED);
    AS_OMP_REAL(GOMP_ordered_end)();
}

AS_WRAPPER void __kmpc_ordered(void *place, int thread);
AS_WRAPPER void __kmpc_ordered(void *place, int thread)
{
    struct as_tracer_thread *t = come_to_turn(AS_CALLED);
    AS_OMP_REAL(__kmpc_ordered)(place, thread);
    have_turn(t);
}

AS_WRAPPER void __kmpc_end_ordered(void *place, int thread);
AS_WRAPPER void __kmpc_end_ordered(void *place, int thread)
{
    as_wrapped_release(&ordered_end, turn_of_region(), AS_TRACE_ORDERED, AS_CALLED);
    AS_OMP_REAL(__kmpc_end_ordered)(place, thread);
}
