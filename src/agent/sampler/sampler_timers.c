/* SPDX-License-Identifier: Apache-2.0 */
/* One timer a thread, of its own CPU time (timer_create(2), SIGEV_THREAD_ID). */
#include "agent/core/tasks.h"
#include "agent/sampler/sampler.h"
#include "base/clock.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* That of this thread. */
static __thread struct {
    bool is_there;
    int timer;
} own;

static void unblock(void)
{
    uint64_t set = 1ull << (as_agent.signal - 1);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8);
}

void as_sampler_missed(int error)
{
    atomic_fetch_add(&as_sampler_state.ring->threads_missed, 1);
    atomic_store(&as_sampler_state.ring->missed_errno, (uint32_t)error);
}

/* Timers by number, for whoever must stop them all; those beyond have no place here. */
static _Atomic bool timers[4096];
#define TIMERS_N ((int)(sizeof timers / sizeof *timers))

static void note_timer(int timer, bool is_there)
{
    if (timer >= 0 && timer < TIMERS_N)
        atomic_store(&timers[timer], is_there);
}

bool as_sampler_disarm(void)
{
    if (!own.is_there)
        return false;
    own.is_there = false;
    note_timer(own.timer, false);
    syscall(SYS_timer_delete, own.timer);
    return true;
}

/* ---- Handlers that still run ---------------------------------------------------------------- */

/* A nap, and how many there are at most: for a second in all. */
#define NAP_NS    200000
#define NAPS_MOST 5000
/* A thread that blocks the signal for so long while it runs does so by itself. */
#define OWN_NAPS 500

static bool is_patient;

/* 1: the thread runs the handler, or will. The handler blocks all signals, and never sleeps. */
static int is_handling(pid_t tid)
{
    const uint64_t signal = 1ull << (as_agent.signal - 1);
    struct as_agent_task task;

    if (as_agent_task_read(tid, &task) < 0 || !task.state)
        return 0;
    if (!(task.blocked & signal))
        return (task.pending & signal) != 0;
    return is_patient && (task.state == 'R' || task.state == 'D');
}

/* The end of a handler is a system call. A timer may have fired before it was deleted. */
static void await_handlers(void)
{
    const struct timespec nap = {0, NAP_NS};

    for (int i = 0; i < NAPS_MOST; i++) {
        is_patient = i < OWN_NAPS;
        if (as_agent_tasks(is_handling) <= 0)
            return;
        syscall(SYS_nanosleep, &nap, NULL);
    }
}

void as_sampler_disarm_all(void)
{
    as_sampler_disarm();
    for (int timer = 0; timer < TIMERS_N; timer++)
        if (atomic_exchange(&timers[timer], false))
            syscall(SYS_timer_delete, timer);
    await_handlers();
}

/* They are not inherited by the child of a fork. */
void as_sampler_timers_forked(void)
{
    own.is_there = false;
    for (int timer = 0; timer < TIMERS_N; timer++)
        atomic_store_explicit(&timers[timer], false, memory_order_relaxed);
}

void as_sampler_arm(void)
{
    uint32_t period_ns = as_sampler_state.sampling->period_ns;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = as_agent.signal};
    event.sigev_value.sival_ptr = &as_sampler_state;
    event._sigev_un._tid = as_agent_self.tid;
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &own.timer) < 0) {
        as_sampler_missed(errno);
        return;
    }
    /* Threads that start together are not to be sampled together. */
    uint64_t mixed = ((uint64_t)as_agent_self.tid ^ as_monotonic_ns()) * 0x9e3779b97f4a7c15u;
    struct itimerspec when = {.it_interval = {period_ns / 1000000000u, period_ns % 1000000000u}};
    when.it_value.tv_nsec = (long)(1 + (mixed >> 32) * (period_ns % 1000000000u) / UINT32_MAX);
    own.is_there = true;
    note_timer(own.timer, true);
    unblock();
    syscall(SYS_timer_settime, own.timer, 0, &when, NULL);
}
