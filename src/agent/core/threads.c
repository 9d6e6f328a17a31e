/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads are seen because pthread_create and thrd_create are ours: the new thread begins here,
 * the clients are told, and it jumps to the program's function; a key's destructor tells its end.
 * Raw clone(2) is not seen.
 */
#include "agent/core/agent.h"

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
#include <unistd.h>

#define MAIN_STACK_MOST_B (1024u << 20)

static pthread_key_t end_key;

/* ---- Stacks --------------------------------------------------------------------- */

/* The program's name is the last thing on the first thread's stack. */
void as_agent_main_thread(void)
{
    struct as_agent_thread *self = &as_agent_self;
    uintptr_t name = getauxval(AT_EXECFN);
    self->tid = (pid_t)syscall(SYS_gettid);
    if (name == 0)
        return;
    uintptr_t high = ((name + strlen((const char *)name)) | (AS_AGENT_PAGE_B - 1)) + 1;
    const uint64_t limit_b = as_agent_limit_b(RLIMIT_STACK);
    const uint64_t size_b = limit_b < MAIN_STACK_MOST_B ? limit_b : MAIN_STACK_MOST_B;
    self->low = high - size_b;
    self->high = high;
}

/* ---- Beginning and end -------------------------------------------------------------------- */

/* What a new thread needs to know. Slots, so that the program's heap is not touched. */
struct begin {
    _Atomic bool taken;
    void *(*function)(void *);
    void *argument;
    const void *maker;
    uint32_t parent_tid;
    uint64_t stack_size_b;
};
static struct begin begins[4096];
static _Atomic uint32_t begins_next;

static struct begin *claim_begin(void)
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
    self->maker = slot->maker;
    atomic_store(&slot->taken, false);
    self->tid = (pid_t)syscall(SYS_gettid);
    self->parent_tid = (pid_t)parent_tid;
    pthread_setspecific(end_key, self);
    if (!as_agent_is_confined())
        AS_AGENT_NOTIFY(thread_begin);
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

/* The destructors of other keys are the program's code, and more of it may come of them: the last
 * round is ours. */
static void end_agent_thread(void *thread)
{
    if (++as_agent_self.rounds < PTHREAD_DESTRUCTOR_ITERATIONS &&
        pthread_setspecific(end_key, thread) == 0)
        return;
    AS_AGENT_NOTIFY(thread_end);
    if (!as_agent_is_confined())
        as_agent_areas_end();
}

int as_agent_threads_begin(void)
{
    const uint64_t limit_b = as_agent_limit_b(RLIMIT_STACK);
    as_agent.stack_size_b = limit_b == UINT64_MAX ? 2u << 20 : limit_b; /* as the C library */
    return pthread_key_create(&end_key, end_agent_thread) == 0 ? 0 : -1;
}

/* NULL: start it as if we were not here. */
static struct begin *prepare_thread(const void *maker, const pthread_attr_t *attr,
                                    void *(*function)(void *), void *argument)
{
    if (!as_agent_active() || as_agent.control->only_pid)
        return NULL;
    struct begin *begin = as_agent_is_confined() ? NULL : claim_begin(); /* so will be the thread */
    if (!begin) {
        AS_AGENT_NOTIFY(thread_missed, as_agent_is_confined() ? EPERM : EAGAIN);
        return NULL;
    }
    size_t size_b;
    begin->maker = maker;
    begin->function = function;
    begin->argument = argument;
    begin->parent_tid = (uint32_t)as_agent_self.tid;
    begin->stack_size_b = as_agent.stack_size_b;
    if (attr && pthread_attr_getstacksize(attr, &size_b) == 0 && size_b)
        begin->stack_size_b = size_b;
    return begin;
}

/* Its number is not read where the program has it: the new thread may have freed that. */
static void notify_thread_made(const void *maker, const void *function)
{
    if (as_agent.state == AS_AGENT_READY && !as_agent_is_confined())
        AS_AGENT_NOTIFY(thread_made, maker, function);
}

AS_AGENT_API int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                                void *(*function)(void *), void *argument)
{
    struct begin *begin = prepare_thread(__builtin_return_address(0), attr, function, argument);
    if (!begin)
        return AS_AGENT_REAL(pthread_create)(thread, attr, function, argument);
    int rc = AS_AGENT_REAL(pthread_create)(thread, attr, begin_posix, begin);
    if (rc != 0)
        atomic_store(&begin->taken, false);
    else
        notify_thread_made(__builtin_return_address(0), (void *)function);
    return rc;
}

AS_AGENT_API int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    struct begin *begin = prepare_thread(__builtin_return_address(0), NULL,
                                         (void *(*)(void *))(void (*)(void))function, argument);
    if (!begin)
        return AS_AGENT_REAL(thrd_create)(thread, function, argument);
    int rc = AS_AGENT_REAL(thrd_create)(thread, begin_c11, begin);
    if (rc != thrd_success)
        atomic_store(&begin->taken, false);
    else
        notify_thread_made(__builtin_return_address(0), (void *)(void (*)(void))function);
    return rc;
}

static void notify_thread_name(void)
{
    if (as_agent.state == AS_AGENT_READY && !as_agent_is_confined())
        AS_AGENT_NOTIFY(thread_named);
}

AS_AGENT_API int pthread_setname_np(pthread_t thread, const char *name)
{
    int rc = AS_AGENT_REAL(pthread_setname_np)(thread, name);
    if (rc == 0 && pthread_equal(thread, pthread_self()))
        notify_thread_name();
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
    if (rc == 0 && option == PR_SET_NAME)
        notify_thread_name();
    return rc;
}
