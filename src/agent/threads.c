/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One timer a thread, of its own CPU time (timer_create(2), SIGEV_THREAD_ID). Threads are seen
 * because pthread_create and thrd_create are ours: the new thread begins here, arms its timer and
 * jumps to the program's function; a key's destructor tells its end. Raw clone(2) is not seen.
 */
#include "agent/agent.h"
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define MAIN_STACK_MOST_B (1024u << 20)

__thread struct as_agent_thread as_agent_self;

static pthread_key_t end_key;

/* ---- Timers ------------------------------------------------------------------------------- */

static void unblock(void)
{
    uint64_t set = 1ull << (as_agent.signal - 1);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8);
}

void as_agent_missed(int error)
{
    atomic_fetch_add(&as_agent.ring->threads_missed, 1);
    atomic_store(&as_agent.ring->missed_errno, (uint32_t)error);
}

/* Timers by number, for whoever must stop them all; those beyond have no place here. */
static _Atomic bool timers[4096];
#define TIMERS_N ((int)(sizeof timers / sizeof *timers))

static void note_timer(int timer, bool is_there)
{
    if (timer >= 0 && timer < TIMERS_N)
        atomic_store(&timers[timer], is_there);
}

void as_agent_disarm(void)
{
    struct as_agent_thread *self = &as_agent_self;
    if (!self->has_timer)
        return;
    self->has_timer = false;
    note_timer(self->timer, false);
    syscall(SYS_timer_delete, self->timer);
}

void as_agent_disarm_all(void)
{
    as_agent_disarm();
    for (int timer = 0; timer < TIMERS_N; timer++)
        if (atomic_exchange(&timers[timer], false))
            syscall(SYS_timer_delete, timer);
}

/* They are not inherited by the child of a fork. */
void as_agent_timers_forked(void)
{
    for (int timer = 0; timer < TIMERS_N; timer++)
        atomic_store_explicit(&timers[timer], false, memory_order_relaxed);
}

void as_agent_arm(void)
{
    struct as_agent_thread *self = &as_agent_self;
    uint32_t period_ns = as_agent.control->period_ns;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = as_agent.signal};
    event.sigev_value.sival_ptr = &as_agent;
    event._sigev_un._tid = self->tid;
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &self->timer) < 0) {
        as_agent_missed(errno);
        return;
    }
    /* Threads that start together are not to be sampled together. */
    uint64_t mixed = ((uint64_t)self->tid ^ as_monotonic_ns()) * 0x9e3779b97f4a7c15u;
    struct itimerspec when = {.it_interval = {period_ns / 1000000000u, period_ns % 1000000000u}};
    when.it_value.tv_nsec = (long)(1 + (mixed >> 32) * (period_ns % 1000000000u) / UINT32_MAX);
    self->has_timer = true;
    note_timer(self->timer, true);
    unblock();
    syscall(SYS_timer_settime, self->timer, 0, &when, NULL);
}

/* ---- Stacks and names --------------------------------------------------------------------- */

/* The program's name is the last thing on the first thread's stack. */
void as_agent_main_thread(void)
{
    struct as_agent_thread *self = &as_agent_self;
    struct rlimit limit;
    uintptr_t name = getauxval(AT_EXECFN);
    self->tid = (pid_t)syscall(SYS_gettid);
    if (name == 0)
        return;
    uintptr_t high = ((name + strlen((const char *)name)) | (AS_AGENT_PAGE_B - 1)) + 1;
    uint64_t size_b = MAIN_STACK_MOST_B;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < size_b)
        size_b = limit.rlim_cur;
    self->low = high - size_b;
    self->high = high;
}

static uint64_t ran_ns(void)
{
    return as_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void tell_thread(uint32_t kind, uint32_t parent_tid)
{
    if (as_agent_is_confined())
        return;
    struct as_agent_thread_record *record = as_agent_reserve(sizeof *record, 0);
    if (!record)
        return;
    record->cpu_ns = kind == AS_AGENT_EXIT ? ran_ns() : 0;
    char name[AS_AGENT_NAME_B] = "";
    prctl(PR_GET_NAME, name, 0, 0, 0);
    memcpy(record->name, name, sizeof name);
    record->parent_tid = parent_tid;
    as_agent_commit(record, sizeof *record, kind, as_monotonic_ns());
}

/* ---- Beginning and end -------------------------------------------------------------------- */

/* What a new thread needs to know. Slots, so that the program's heap is not touched. */
struct begin {
    _Atomic bool taken;
    void *(*function)(void *);
    void *argument;
    uint32_t parent_tid;
    uint64_t stack_size_b;
};
static struct begin begins[4096];
static _Atomic uint32_t begins_next;

static struct begin *take_begin(void)
{
    uint32_t n = sizeof begins / sizeof *begins;
    for (uint32_t tries = 0; tries < n; tries++) {
        struct begin *begin = &begins[atomic_fetch_add(&begins_next, 1) % n];
        if (!atomic_exchange(&begin->taken, true))
            return begin;
    }
    return NULL;
}

/* The descriptor of a thread is at the high end of its stack, whoever gave the stack. */
static void begin_thread(struct begin *slot)
{
    struct as_agent_thread *self = &as_agent_self;
    uint32_t parent_tid = slot->parent_tid;
    self->high = (uintptr_t)pthread_self();
    self->low = self->high - slot->stack_size_b;
    atomic_store(&slot->taken, false);
    self->tid = (pid_t)syscall(SYS_gettid);
    pthread_setspecific(end_key, self);
    tell_thread(AS_AGENT_THREAD, parent_tid);
    as_agent_arm();
}

/* Both jump rather than call: no frame of ours is on the program's stack. */
static void *begin_posix(void *slot)
{
    const struct begin *begin = slot;
    void *(*function)(void *) = begin->function;
    void *argument = begin->argument;
    begin_thread(slot);
    return function(argument);
}

static int begin_c11(void *slot)
{
    const struct begin *begin = slot;
    int (*function)(void *) = (int (*)(void *))(void (*)(void))begin->function;
    void *argument = begin->argument;
    begin_thread(slot);
    return function(argument);
}

static void end_agent_thread(void *thread)
{
    (void)thread;
    as_agent_disarm();
    tell_thread(AS_AGENT_EXIT, 0);
}

int as_agent_threads_begin(void)
{
    struct rlimit limit;
    as_agent.stack_size_b = 2u << 20; /* the C library's, when there is no limit */
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        as_agent.stack_size_b = limit.rlim_cur;
    return pthread_key_create(&end_key, end_agent_thread) == 0 ? 0 : -1;
}

/* NULL: start it as if we were not here. */
static struct begin *prepare_thread(const pthread_attr_t *attr, void *(*function)(void *),
                                    void *argument)
{
    if (!as_agent_active() || as_agent.control->only_pid)
        return NULL;
    if (as_agent_is_confined()) { /* and so will be the thread */
        as_agent_missed(EPERM);
        return NULL;
    }
    struct begin *begin = take_begin();
    if (!begin) {
        as_agent_missed(EAGAIN);
        return NULL;
    }
    size_t size_b;
    begin->function = function;
    begin->argument = argument;
    begin->parent_tid = (uint32_t)as_agent_self.tid;
    begin->stack_size_b = as_agent.stack_size_b;
    if (attr && pthread_attr_getstacksize(attr, &size_b) == 0 && size_b)
        begin->stack_size_b = size_b;
    return begin;
}

AS_AGENT_API int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                                void *(*function)(void *), void *argument)
{
    struct begin *begin = prepare_thread(attr, function, argument);
    if (!begin)
        return AS_AGENT_REAL(pthread_create)(thread, attr, function, argument);
    int rc = AS_AGENT_REAL(pthread_create)(thread, attr, begin_posix, begin);
    if (rc != 0)
        atomic_store(&begin->taken, false);
    return rc;
}

AS_AGENT_API int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    struct begin *begin =
        prepare_thread(NULL, (void *(*)(void *))(void (*)(void))function, argument);
    if (!begin)
        return AS_AGENT_REAL(thrd_create)(thread, function, argument);
    int rc = AS_AGENT_REAL(thrd_create)(thread, begin_c11, begin);
    if (rc != thrd_success)
        atomic_store(&begin->taken, false);
    return rc;
}

AS_AGENT_API int pthread_setname_np(pthread_t thread, const char *name)
{
    int rc = AS_AGENT_REAL(pthread_setname_np)(thread, name);
    if (rc == 0 && as_agent.ring && pthread_equal(thread, pthread_self()))
        tell_thread(AS_AGENT_NAME, 0);
    return rc;
}

AS_AGENT_API int prctl(int option, ...)
{
    va_list ap;
    unsigned long a[4];
    va_start(ap, option);
    for (unsigned i = 0; i < 4; i++) /* as the C library: all, given or not */
        a[i] = va_arg(ap, unsigned long);
    va_end(ap);
    int rc = as_agent_prctl(option, a);
    if (rc == 0 && option == PR_SET_NAME && as_agent.ring)
        tell_thread(AS_AGENT_NAME, 0);
    return rc;
}
