/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait for each other by the C library (POSIX and C11): a lock is tried first, and
 * what is not had at once is recorded. A thread's beginning and end are told by the agent, which
 * watches pthread_create (threads.c).
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "agent/core/runtime.h"
#include "agent/wrap/wrapped.h"

/* ---- The C library's ---------------------------------------------------------------------- */

/* name, version of its symbol where there is an older one */
#define REALS(X)                                                                                   \
    X(pthread_mutex_lock, NULL)                                                                    \
    X(pthread_mutex_trylock, NULL)                                                                 \
    X(pthread_mutex_timedlock, NULL)                                                               \
    X(pthread_mutex_clocklock, NULL)                                                               \
    X(pthread_mutex_unlock, NULL)                                                                  \
    X(pthread_rwlock_rdlock, NULL)                                                                 \
    X(pthread_rwlock_tryrdlock, NULL)                                                              \
    X(pthread_rwlock_timedrdlock, NULL)                                                            \
    X(pthread_rwlock_clockrdlock, NULL)                                                            \
    X(pthread_rwlock_wrlock, NULL)                                                                 \
    X(pthread_rwlock_trywrlock, NULL)                                                              \
    X(pthread_rwlock_timedwrlock, NULL)                                                            \
    X(pthread_rwlock_clockwrlock, NULL)                                                            \
    X(pthread_rwlock_unlock, NULL)                                                                 \
    X(pthread_spin_lock, NULL)                                                                     \
    X(pthread_spin_trylock, NULL)                                                                  \
    X(pthread_spin_unlock, NULL)                                                                   \
    X(pthread_cond_wait, "GLIBC_2.3.2")                                                            \
    X(pthread_cond_timedwait, "GLIBC_2.3.2")                                                       \
    X(pthread_cond_clockwait, NULL)                                                                \
    X(pthread_cond_signal, "GLIBC_2.3.2")                                                          \
    X(pthread_cond_broadcast, "GLIBC_2.3.2")                                                       \
    X(pthread_barrier_wait, NULL)                                                                  \
    X(pthread_join, NULL)                                                                          \
    X(pthread_timedjoin_np, NULL)                                                                  \
    X(pthread_clockjoin_np, NULL)                                                                  \
    X(sem_wait, NULL)                                                                              \
    X(sem_trywait, NULL)                                                                           \
    X(sem_timedwait, NULL)                                                                         \
    X(sem_clockwait, NULL)                                                                         \
    X(sem_post, NULL)                                                                              \
    X(thrd_join, NULL)                                                                             \
    X(mtx_lock, NULL)                                                                              \
    X(mtx_trylock, NULL)                                                                           \
    X(mtx_timedlock, NULL)                                                                         \
    X(mtx_unlock, NULL)                                                                            \
    X(cnd_wait, NULL)                                                                              \
    X(cnd_timedwait, NULL)                                                                         \
    X(cnd_signal, NULL)                                                                            \
    X(cnd_broadcast, NULL)
#define REAL_INDEX(name, version) AS_PTHREAD_##name,
enum pthread_real { REALS(REAL_INDEX) AS_PTHREAD_REALS_N };
#define REAL_NAME(name, version) {#name, version},
static const struct {
    const char *name, *version;
} real_names[] = {REALS(REAL_NAME)};
static void *_Atomic real_found[AS_PTHREAD_REALS_N];
#define ROUTINE(name, version) {#name, AS_TRACE_OF_LOCK, 0},
static struct as_wrapped routines[] = {REALS(ROUTINE)};

/* Others' constructors may call before ours has run. */
__attribute__((noinline, cold)) static void *find_real(enum pthread_real index)
{
    void *at = real_names[index].version
                   ? dlvsym(RTLD_NEXT, real_names[index].name, real_names[index].version)
                   : NULL;
    if (!at)
        at = dlsym(RTLD_NEXT, real_names[index].name);
    real_found[index] = at;
    return at;
}

static inline void *real_at(enum pthread_real index)
{
    void *at = atomic_load_explicit(&real_found[index], memory_order_relaxed);
    return __builtin_expect(at != NULL, 1) ? at : find_real(index);
}

#define REAL(name)       ((__typeof__(&name))real_at(AS_PTHREAD_##name))
#define ROUTINE_OF(name) (&routines[AS_PTHREAD_##name])

__attribute__((constructor)) static void begin_threads(void)
{
    for (unsigned i = 0; i < AS_PTHREAD_REALS_N; i++)
        find_real((enum pthread_real)i);
    routines[AS_PTHREAD_pthread_join].group = AS_TRACE_OF_THREAD;
    routines[AS_PTHREAD_pthread_timedjoin_np].group = AS_TRACE_OF_THREAD;
    routines[AS_PTHREAD_pthread_clockjoin_np].group = AS_TRACE_OF_THREAD;
    routines[AS_PTHREAD_thrd_join].group = AS_TRACE_OF_THREAD;
    as_wrapped_begin(AS_TRACER_PTHREAD);
}

/* ---- Locks -------------------------------------------------------------------------------- */

/* The body of a wrapper: try; where another has it (`busy`), wait and record it. */
#define WAIT_FOR(name, lock, kind, tried, busy, call)                                              \
    do {                                                                                           \
        if (!as_wrapped_hooks)                                                                     \
            return call;                                                                           \
        const int first = tried;                                                                   \
        if (first != (busy))                                                                       \
            return first;                                                                          \
        struct as_tracer_thread *const t =                                                         \
            as_wrapped_wait(ROUTINE_OF(name), lock, kind, AS_CALLED);                              \
        const int rc = call;                                                                       \
        if (t)                                                                                     \
            as_wrapped_waited(t, ROUTINE_OF(name), lock, kind, rc == 0 || rc == EOWNERDEAD);       \
        return rc;                                                                                 \
    } while (0)

#define WAIT_FOR_MUTEX(name, ...)                                                                  \
    WAIT_FOR(name, mutex, AS_TRACE_MUTEX, REAL(pthread_mutex_trylock)(mutex), EBUSY,               \
             REAL(name)(__VA_ARGS__))
#define WAIT_TO_READ(name, ...)                                                                    \
    WAIT_FOR(name, lock, AS_TRACE_READ, REAL(pthread_rwlock_tryrdlock)(lock), EBUSY,               \
             REAL(name)(__VA_ARGS__))
#define WAIT_TO_WRITE(name, ...)                                                                   \
    WAIT_FOR(name, lock, AS_TRACE_WRITE, REAL(pthread_rwlock_trywrlock)(lock), EBUSY,              \
             REAL(name)(__VA_ARGS__))

AS_WRAPPER int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    WAIT_FOR_MUTEX(pthread_mutex_lock, mutex);
}

AS_WRAPPER int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    WAIT_FOR_MUTEX(pthread_mutex_timedlock, mutex, until);
}

AS_WRAPPER int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                       const struct timespec *until)
{
    WAIT_FOR_MUTEX(pthread_mutex_clocklock, mutex, clock, until);
}

AS_WRAPPER int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    as_wrapped_release(ROUTINE_OF(pthread_mutex_unlock), mutex, AS_TRACE_MUTEX, AS_CALLED);
    return REAL(pthread_mutex_unlock)(mutex);
}

AS_WRAPPER int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    WAIT_TO_READ(pthread_rwlock_rdlock, lock);
}

AS_WRAPPER int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    WAIT_TO_READ(pthread_rwlock_timedrdlock, lock, until);
}

AS_WRAPPER int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
                                          const struct timespec *until)
{
    WAIT_TO_READ(pthread_rwlock_clockrdlock, lock, clock, until);
}

AS_WRAPPER int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    WAIT_TO_WRITE(pthread_rwlock_wrlock, lock);
}

AS_WRAPPER int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    WAIT_TO_WRITE(pthread_rwlock_timedwrlock, lock, until);
}

AS_WRAPPER int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
                                          const struct timespec *until)
{
    WAIT_TO_WRITE(pthread_rwlock_clockwrlock, lock, clock, until);
}

AS_WRAPPER int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    as_wrapped_release(ROUTINE_OF(pthread_rwlock_unlock), lock, AS_TRACE_WRITE, AS_CALLED);
    return REAL(pthread_rwlock_unlock)(lock);
}

AS_WRAPPER int pthread_spin_lock(pthread_spinlock_t *lock)
{
    WAIT_FOR(pthread_spin_lock, (void *)(uintptr_t)lock, AS_TRACE_SPIN,
             REAL(pthread_spin_trylock)(lock), EBUSY, REAL(pthread_spin_lock)(lock));
}

AS_WRAPPER int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    as_wrapped_release(ROUTINE_OF(pthread_spin_unlock), (void *)(uintptr_t)lock, AS_TRACE_SPIN,
                       AS_CALLED);
    return REAL(pthread_spin_unlock)(lock);
}

AS_WRAPPER int mtx_lock(mtx_t *mutex)
{
    WAIT_FOR(mtx_lock, mutex, AS_TRACE_MUTEX, REAL(mtx_trylock)(mutex), thrd_busy,
             REAL(mtx_lock)(mutex));
}

AS_WRAPPER int mtx_timedlock(mtx_t *mutex, const struct timespec *until)
{
    WAIT_FOR(mtx_timedlock, mutex, AS_TRACE_MUTEX, REAL(mtx_trylock)(mutex), thrd_busy,
             REAL(mtx_timedlock)(mutex, until));
}

AS_WRAPPER int mtx_unlock(mtx_t *mutex)
{
    as_wrapped_release(ROUTINE_OF(mtx_unlock), mutex, AS_TRACE_MUTEX, AS_CALLED);
    return REAL(mtx_unlock)(mutex);
}

/* ---- Conditions --------------------------------------------------------------------------- */

/* Always waits, and gives the mutex back for as long. */
#define WAIT_UNTIL(name, unlock, ...)                                                              \
    do {                                                                                           \
        as_wrapped_release(ROUTINE_OF(unlock), mutex, AS_TRACE_MUTEX, AS_CALLED);                  \
        struct as_tracer_thread *const t =                                                         \
            as_wrapped_hooks                                                                       \
                ? as_wrapped_wait(ROUTINE_OF(name), condition, AS_TRACE_CONDITION, AS_CALLED)      \
                : NULL;                                                                            \
        const int rc = REAL(name)(__VA_ARGS__);                                                    \
        if (t)                                                                                     \
            as_wrapped_waited(t, ROUTINE_OF(name), condition, AS_TRACE_CONDITION, rc == 0);        \
        return rc;                                                                                 \
    } while (0)
#define TELL_WAITERS(name)                                                                         \
    as_wrapped_release(ROUTINE_OF(name), condition, AS_TRACE_CONDITION, AS_CALLED);                \
    return REAL(name)(condition)

AS_WRAPPER int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    WAIT_UNTIL(pthread_cond_wait, pthread_mutex_unlock, condition, mutex);
}

AS_WRAPPER int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                      const struct timespec *until)
{
    WAIT_UNTIL(pthread_cond_timedwait, pthread_mutex_unlock, condition, mutex, until);
}

AS_WRAPPER int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                      clockid_t clock, const struct timespec *until)
{
    WAIT_UNTIL(pthread_cond_clockwait, pthread_mutex_unlock, condition, mutex, clock, until);
}

AS_WRAPPER int pthread_cond_signal(pthread_cond_t *condition)
{
    TELL_WAITERS(pthread_cond_signal);
}

AS_WRAPPER int pthread_cond_broadcast(pthread_cond_t *condition)
{
    TELL_WAITERS(pthread_cond_broadcast);
}

AS_WRAPPER int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    WAIT_UNTIL(cnd_wait, mtx_unlock, condition, mutex);
}

AS_WRAPPER int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until)
{
    WAIT_UNTIL(cnd_timedwait, mtx_unlock, condition, mutex, until);
}

AS_WRAPPER int cnd_signal(cnd_t *condition)
{
    TELL_WAITERS(cnd_signal);
}

AS_WRAPPER int cnd_broadcast(cnd_t *condition)
{
    TELL_WAITERS(cnd_broadcast);
}

/* ---- Semaphores --------------------------------------------------------------------------- */

/* A semaphore that cannot be had leaves its reason in errno, which the call sets itself. */
static int try_semaphore(sem_t *semaphore)
{
    const int saved = errno;
    const int rc = REAL(sem_trywait)(semaphore);
    errno = saved;
    return rc;
}

#define WAIT_FOR_SEMAPHORE(name, ...)                                                              \
    WAIT_FOR(name, semaphore, AS_TRACE_SEMAPHORE, try_semaphore(semaphore), -1,                    \
             REAL(name)(__VA_ARGS__))

AS_WRAPPER int sem_wait(sem_t *semaphore)
{
    WAIT_FOR_SEMAPHORE(sem_wait, semaphore);
}

AS_WRAPPER int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    WAIT_FOR_SEMAPHORE(sem_timedwait, semaphore, until);
}

AS_WRAPPER int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    WAIT_FOR_SEMAPHORE(sem_clockwait, semaphore, clock, until);
}

/* Also from handlers of signals: a record that one interrupts is not written (trace/write.h). */
AS_WRAPPER int sem_post(sem_t *semaphore)
{
    as_wrapped_release(ROUTINE_OF(sem_post), semaphore, AS_TRACE_SEMAPHORE, AS_CALLED);
    return REAL(sem_post)(semaphore);
}

/* ---- Barriers and ends -------------------------------------------------------------------- */

AS_WRAPPER int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    struct as_tracer_thread *const t = as_runtime_owns(__builtin_return_address(0))
                                           ? NULL
                                           : as_wrapped_thread_of(ROUTINE_OF(pthread_barrier_wait));
    const uint64_t field[] = {(uint64_t)(uintptr_t)barrier, AS_TRACE_POSIX};
    if (!t)
        return REAL(pthread_barrier_wait)(barrier);
    as_wrapped_enter(t, ROUTINE_OF(pthread_barrier_wait), AS_CALLED, as_trace_now(&t->writer));
    as_trace_emit(&t->writer, AS_TRACE_BARRIER, 0, field, 2);
    const int rc = REAL(pthread_barrier_wait)(barrier);
    as_trace_emit(&t->writer, AS_TRACE_BARRIER_END, as_trace_now(&t->writer), field, 2);
    as_wrapped_leave(t, ROUTINE_OF(pthread_barrier_wait), 0);
    return rc;
}

#define WAIT_FOR_END(name, ...)                                                                    \
    do {                                                                                           \
        struct as_tracer_thread *const t = as_wrapped_thread_of(ROUTINE_OF(name));                 \
        const uint64_t handle = (uint64_t)thread;                                                  \
        if (t) {                                                                                   \
            as_wrapped_enter(t, ROUTINE_OF(name), AS_CALLED, as_trace_now(&t->writer));            \
            as_trace_emit(&t->writer, AS_TRACE_THREAD_JOIN, 0, &handle, 1);                        \
        }                                                                                          \
        const int rc = REAL(name)(__VA_ARGS__);                                                    \
        if (t)                                                                                     \
            as_wrapped_leave(t, ROUTINE_OF(name), as_trace_now(&t->writer));                       \
        return rc;                                                                                 \
    } while (0)

AS_WRAPPER int pthread_join(pthread_t thread, void **answer)
{
    WAIT_FOR_END(pthread_join, thread, answer);
}

AS_WRAPPER int pthread_timedjoin_np(pthread_t thread, void **answer, const struct timespec *until)
{
    WAIT_FOR_END(pthread_timedjoin_np, thread, answer, until);
}

AS_WRAPPER int pthread_clockjoin_np(pthread_t thread, void **answer, clockid_t clock,
                                    const struct timespec *until)
{
    WAIT_FOR_END(pthread_clockjoin_np, thread, answer, clock, until);
}

AS_WRAPPER int thrd_join(thrd_t thread, int *answer)
{
    WAIT_FOR_END(thrd_join, thread, answer);
}
