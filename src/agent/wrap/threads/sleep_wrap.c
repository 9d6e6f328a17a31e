/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the C library in which a thread sleeps, or waits for a descriptor or a signal: it has no
 * work then, and does not compute. A call that waits for descriptors asks first without waiting:
 * one that finds something at once is not recorded.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "agent/core/runtime.h"
#include "agent/wrap/wrapped.h"

/* What -D_FORTIFY_SOURCE calls in place of poll and ppoll. */
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t size_b);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
                size_t size_b);

/* name, what traces call it */
#define SLEEPS(X)                                                                                  \
    X(nanosleep, "nanosleep")                                                                      \
    X(clock_nanosleep, "clock_nanosleep")                                                          \
    X(usleep, "usleep")                                                                            \
    X(sleep, "sleep")                                                                              \
    X(thrd_sleep, "thrd_sleep")                                                                    \
    X(pause, "pause")                                                                              \
    X(sigsuspend, "sigsuspend")                                                                    \
    X(poll, "poll")                                                                                \
    X(__poll_chk, "poll")                                                                          \
    X(ppoll, "ppoll")                                                                              \
    X(__ppoll_chk, "ppoll")                                                                        \
    X(select, "select")                                                                            \
    X(pselect, "pselect")                                                                          \
    X(epoll_wait, "epoll_wait")                                                                    \
    X(epoll_pwait, "epoll_pwait")
#define SLEEP_INDEX(name, text) AS_SLEEP_##name,
enum sleep_real { SLEEPS(SLEEP_INDEX) AS_SLEEP_REALS_N };
#define SLEEP_SYMBOL(name, text) #name,
static const char *const sleep_symbols[] = {SLEEPS(SLEEP_SYMBOL)};
static void *_Atomic sleep_found[AS_SLEEP_REALS_N];
#define SLEEP_ROUTINE(name, text) {text, AS_TRACE_OF_SLEEP, 0},
static struct as_wrapped sleep_routines[] = {SLEEPS(SLEEP_ROUTINE)};

/* Others' constructors may call before ours has run. */
static void *find_sleep(enum sleep_real index)
{
    void *at = atomic_load_explicit(&sleep_found[index], memory_order_relaxed);
    if (!at)
        sleep_found[index] = at = dlsym(RTLD_NEXT, sleep_symbols[index]);
    return at;
}

#define REAL(name)       ((__typeof__(&name))find_sleep(AS_SLEEP_##name))
#define ROUTINE_OF(name) (&sleep_routines[AS_SLEEP_##name])

/* MPI and OpenMP wait for themselves: their own calls are not recorded. */
static bool is_watched_call(const void *behind)
{
    return as_wrapped_hooks && !as_runtime_owns(behind);
}

/* NULL: nothing is recorded. */
static struct as_tracer_thread *begin_sleep(struct as_wrapped *routine, const void *behind,
                                            const void *frame)
{
    struct as_tracer_thread *t = as_wrapped_thread_of(routine);
    if (t)
        as_wrapped_enter(t, routine, behind, frame, as_trace_now(&t->writer));
    return t;
}

static void end_sleep(struct as_tracer_thread *t, struct as_wrapped *routine)
{
    const int saved = errno;
    if (t)
        as_wrapped_leave(t, routine, as_trace_now(&t->writer));
    errno = saved;
}

#define SLEEP_IN(type, name, call)                                                                 \
    do {                                                                                           \
        if (!is_watched_call(__builtin_return_address(0)))                                         \
            return call;                                                                           \
        struct as_tracer_thread *const t = begin_sleep(ROUTINE_OF(name), AS_CALLED);               \
        const type rc = call;                                                                      \
        end_sleep(t, ROUTINE_OF(name));                                                            \
        return rc;                                                                                 \
    } while (0)

/* ---- Sleep and signals --------------------------------------------------------------------- */

AS_WRAPPER int nanosleep(const struct timespec *time, struct timespec *left)
{
    SLEEP_IN(int, nanosleep, REAL(nanosleep)(time, left));
}

AS_WRAPPER int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                               struct timespec *left)
{
    SLEEP_IN(int, clock_nanosleep, REAL(clock_nanosleep)(clock, flags, time, left));
}

AS_WRAPPER int usleep(useconds_t time_us)
{
    SLEEP_IN(int, usleep, REAL(usleep)(time_us));
}

AS_WRAPPER unsigned sleep(unsigned time_s)
{
    SLEEP_IN(unsigned, sleep, REAL(sleep)(time_s));
}

AS_WRAPPER int thrd_sleep(const struct timespec *time, struct timespec *left)
{
    SLEEP_IN(int, thrd_sleep, REAL(thrd_sleep)(time, left));
}

AS_WRAPPER int pause(void)
{
    SLEEP_IN(int, pause, REAL(pause)());
}

AS_WRAPPER int sigsuspend(const sigset_t *mask)
{
    SLEEP_IN(int, sigsuspend, REAL(sigsuspend)(mask));
}

/* ---- Descriptors --------------------------------------------------------------------------- */

static const struct timespec at_once = {0, 0};

static bool is_at_once(const struct timespec *timeout)
{
    return timeout && timeout->tv_sec == 0 && timeout->tv_nsec == 0;
}

/* `tried` is the call without a wait: 0 of it says that there is nothing yet. */
#define WAIT_IN(name, is_try, tried, call)                                                         \
    do {                                                                                           \
        if ((is_try) || !is_watched_call(__builtin_return_address(0)))                             \
            return call;                                                                           \
        const int first = tried;                                                                   \
        if (first)                                                                                 \
            return first;                                                                          \
        SLEEP_IN(int, name, call);                                                                 \
    } while (0)

AS_WRAPPER int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    WAIT_IN(poll, timeout_ms == 0, REAL(poll)(fds, n, 0), REAL(poll)(fds, n, timeout_ms));
}

AS_WRAPPER int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t size_b)
{
    WAIT_IN(__poll_chk, timeout_ms == 0, REAL(__poll_chk)(fds, n, 0, size_b),
            REAL(__poll_chk)(fds, n, timeout_ms, size_b));
}

AS_WRAPPER int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                     const sigset_t *mask)
{
    WAIT_IN(ppoll, is_at_once(timeout), REAL(ppoll)(fds, n, &at_once, mask),
            REAL(ppoll)(fds, n, timeout, mask));
}

AS_WRAPPER int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                           const sigset_t *mask, size_t size_b)
{
    WAIT_IN(__ppoll_chk, is_at_once(timeout), REAL(__ppoll_chk)(fds, n, &at_once, mask, size_b),
            REAL(__ppoll_chk)(fds, n, timeout, mask, size_b));
}

AS_WRAPPER int epoll_wait(int epoll, struct epoll_event *events, int n, int timeout_ms)
{
    WAIT_IN(epoll_wait, timeout_ms == 0, REAL(epoll_wait)(epoll, events, n, 0),
            REAL(epoll_wait)(epoll, events, n, timeout_ms));
}

AS_WRAPPER int epoll_pwait(int epoll, struct epoll_event *events, int n, int timeout_ms,
                           const sigset_t *mask)
{
    WAIT_IN(epoll_pwait, timeout_ms == 0, REAL(epoll_pwait)(epoll, events, n, 0, mask),
            REAL(epoll_pwait)(epoll, events, n, timeout_ms, mask));
}

/* The sets that a try without a wait clears; those beyond FD_SETSIZE are not tried. */
struct select_sets {
    fd_set *set[3];
    fd_set copy[3];
    bool is_tried;
};

static struct select_sets sets_of(int n, fd_set *read, fd_set *write, fd_set *other)
{
    struct select_sets sets = {.set = {read, write, other}, .is_tried = n >= 0 && n <= FD_SETSIZE};
    const size_t size_b = ((size_t)n + 63) / 64 * 8;
    for (unsigned i = 0; sets.is_tried && i < 3; i++)
        if (sets.set[i])
            memcpy(&sets.copy[i], sets.set[i], size_b);
    return sets;
}

static void restore_sets(const struct select_sets *sets, int n)
{
    const size_t size_b = ((size_t)n + 63) / 64 * 8;
    for (unsigned i = 0; i < 3; i++)
        if (sets->set[i])
            memcpy(sets->set[i], &sets->copy[i], size_b);
}

AS_WRAPPER int select(int n, fd_set *read, fd_set *write, fd_set *other, struct timeval *timeout)
{
    if (!is_watched_call(__builtin_return_address(0)) ||
        (timeout && timeout->tv_sec == 0 && timeout->tv_usec == 0))
        return REAL(select)(n, read, write, other, timeout);
    const struct select_sets sets = sets_of(n, read, write, other);
    if (sets.is_tried) {
        struct timeval none = {0, 0};
        const int first = REAL(select)(n, read, write, other, &none);
        if (first)
            return first;
        restore_sets(&sets, n);
    }
    SLEEP_IN(int, select, REAL(select)(n, read, write, other, timeout));
}

AS_WRAPPER int pselect(int n, fd_set *read, fd_set *write, fd_set *other,
                       const struct timespec *timeout, const sigset_t *mask)
{
    if (!is_watched_call(__builtin_return_address(0)) || is_at_once(timeout))
        return REAL(pselect)(n, read, write, other, timeout, mask);
    const struct select_sets sets = sets_of(n, read, write, other);
    if (sets.is_tried) {
        const int first = REAL(pselect)(n, read, write, other, &at_once, mask);
        if (first)
            return first;
        restore_sets(&sets, n);
    }
    SLEEP_IN(int, pselect, REAL(pselect)(n, read, write, other, timeout, mask));
}
