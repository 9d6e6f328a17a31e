/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stops threads by a signal: each waits in its handler, and tells where it stood. One that blocks
 * the signal cannot be stopped, and then nothing is changed. One that has no processor comes late,
 * by seconds on a busy machine, and one that ends does not come at all; what the kernel says of
 * those that are missing in /proc/self/task/TID/status (proc(5)), and what they ran meanwhile,
 * tells them apart.
 */
#include "agent/patcher/patcher_stop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "agent/core/tasks.h"
#include "base/clock.h"

#define THREADS_MOST  4096u
#define ATTEMPTS_MOST 20
/* Those that did not come are looked at so often, and waited for so long at most. */
#define LOOK_NS     INT64_C(5000000)
#define PATIENCE_NS INT64_C(20000000000)
/* A thread that blocks the signal for so long, of which it ran so much, blocks it for good. */
#define DEAF_NS     INT64_C(200000000)
#define DEAF_RAN_NS INT64_C(10000000)
/* What a thread in a bad place is to run before it is stopped again, and how long that may take:
 * at a system call it does not run. */
#define ELSEWHERE_NS      INT64_C(100000)
#define ELSEWHERE_MOST_NS INT64_C(100000000)

static struct {
    _Atomic uint32_t is_stopped; /* a futex: threads wait while it is 1 */
    _Atomic uint32_t arrived, left;
    uint32_t gone;     /* of those that were asked */
    _Atomic pid_t bad; /* a thread that stood in a bad place */
    _Atomic uint32_t confined;
    uint64_t module;
    bool (*is_bad)(uint64_t m, uint64_t address);
    int signal; /* that is ours now; 0: nobody is stopped */
    _Atomic uint32_t asked;
    pid_t tid[THREADS_MOST];
    _Atomic bool came[THREADS_MOST]; /* or is gone */
    int64_t ran_ns[THREADS_MOST];    /* each, when it was asked */
    struct sigaction before;
} stop;

static void note_arrival(pid_t self)
{
    for (uint32_t i = 0; i < stop.asked; i++)
        if (stop.tid[i] == self)
            stop.came[i] = true;
    stop.arrived++;
}

static void wait_here(int number, siginfo_t *info, void *context)
{
    const int saved = errno;
    const ucontext_t *at = context;
    const pid_t self = (pid_t)syscall(SYS_gettid);
    /* Another number: of an earlier stop that did not wait for this thread. */
    if (info->si_code != SI_TKILL || info->si_pid != as_agent.pid || number != stop.signal ||
        !stop.is_stopped)
        return;
    if (stop.is_bad(stop.module, (uint64_t)at->uc_mcontext.gregs[REG_RIP]))
        stop.bad = self;
    note_arrival(self);
    while (stop.is_stopped)
        syscall(SYS_futex, &stop.is_stopped, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
    stop.left++;
    errno = saved;
}

void as_patcher_stop_confined(void)
{
    stop.confined = 1;
}

static void nap(void)
{
    const struct timespec time = {0, 100000};
    syscall(SYS_nanosleep, &time, NULL);
}

/* Processor time of a thread (pthread_getcpuclockid(3)); -1: it has ended. */
static int64_t ran_ns(pid_t tid)
{
    const clockid_t clock = (clockid_t)((~(unsigned)tid << 3) | 6);
    struct timespec time;
    return syscall(SYS_clock_gettime, clock, &time) < 0 ? -1 : as_timespec_ns(time);
}

/* ---- Who there is --------------------------------------------------------------------------- */

static bool is_known(pid_t tid)
{
    for (uint32_t i = 0; i < stop.asked; i++)
        if (stop.tid[i] == tid)
            return true;
    return false;
}

static int is_new(pid_t tid)
{
    return !is_known(tid);
}

static int signal_thread(pid_t tid)
{
    const uint32_t at = stop.asked;
    if (is_known(tid))
        return 0;
    if (at == THREADS_MOST)
        return -EAGAIN;
    stop.tid[at] = tid;
    stop.came[at] = false;
    stop.ran_ns[at] = ran_ns(tid);
    stop.asked = at + 1; /* it finds itself there */
    if (syscall(SYS_tgkill, as_agent.pid, tid, stop.signal) == 0)
        return 1;
    stop.asked = at;
    return errno == ESRCH ? 0 : -errno; /* it has ended */
}

/* ---- Who is missing ------------------------------------------------------------------------- */

enum missing_thread { MISSING_GONE, MISSING_BLOCKS, MISSING_QUEUES };

static enum missing_thread why_missing(uint32_t asked)
{
    const pid_t tid = stop.tid[asked];
    struct as_agent_task task;
    const int rc = as_agent_task_read(tid, &task);
    if (rc == 0 && !task.state)
        return MISSING_GONE;
    const uint64_t held = task.pending & task.blocked;
    if (!(held >> (stop.signal - 1) & 1))
        return MISSING_QUEUES;
    return task.state != 'R' || ran_ns(tid) - stop.ran_ns[asked] > DEAF_RAN_NS ? MISSING_BLOCKS
                                                                               : MISSING_QUEUES;
}

/* 0: all that are missing may come yet; or why not. Those that have ended are missing no more. */
static int look_for_missing(int64_t waited_ns)
{
    bool is_deaf = false;
    for (uint32_t i = 0; i < stop.asked; i++) {
        if (stop.came[i])
            continue;
        const enum missing_thread why = why_missing(i);
        is_deaf |= why == MISSING_BLOCKS;
        if (why == MISSING_GONE) {
            stop.came[i] = true;
            stop.gone++;
        }
    }
    if (is_deaf && waited_ns > DEAF_NS)
        return EAGAIN;
    return waited_ns > PATIENCE_NS ? ETIMEDOUT : 0;
}

/* ---- Stopping ------------------------------------------------------------------------------- */

/* A signal that the program does nothing with. */
static int claim_unused_signal(void)
{
    struct sigaction action;
    for (int n = SIGRTMAX; n > SIGRTMAX - 8; n--) {
        if (n == as_agent.signal || AS_AGENT_REAL(sigaction)(n, NULL, &stop.before) < 0 ||
            stop.before.sa_handler != SIG_DFL)
            continue;
        memset(&action, 0, sizeof action);
        action.sa_sigaction = wait_here;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
        if (AS_AGENT_REAL(sigaction)(n, &action, NULL) == 0)
            return n;
    }
    return 0;
}

/* Until all who were asked stand still, and nobody new is there. */
static int wait_for_threads_to_stop(void)
{
    const int64_t begin_ns = as_monotonic_ns();
    int64_t looked_ns = begin_ns;
    for (;;) {
        const int found = as_agent_tasks(signal_thread);
        if (found < 0)
            return -found;
        while (stop.arrived + stop.gone < stop.asked) {
            nap();
            const int64_t now_ns = as_monotonic_ns();
            if (now_ns - looked_ns < LOOK_NS)
                continue;
            const int error = look_for_missing(now_ns - begin_ns);
            if (error)
                return error;
            looked_ns = as_monotonic_ns();
        }
        if (found == 0)
            return 0;
    }
}

static int stop_once(void)
{
    stop.arrived = stop.left = stop.gone = 0;
    stop.bad = 0;
    stop.asked = 0;
    stop.is_stopped = 1;
    const int error = wait_for_threads_to_stop();
    return error ? error : stop.bad ? EBUSY : 0;
}

void as_patcher_go_on(void)
{
    if (!stop.signal)
        return;
    stop.is_stopped = 0;
    syscall(SYS_futex, &stop.is_stopped, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    while (stop.left < stop.arrived)
        nap();
}

/* Signals that were sent and have not come yet would have no handler: it stays where some did not
 * come, and lets them go on. */
static void restore_signal_action(void)
{
    if (stop.arrived + stop.gone == stop.asked)
        AS_AGENT_REAL(sigaction)(stop.signal, &stop.before, NULL);
    stop.signal = 0;
}

/* The thread that stood in a bad place goes on from there, or the next attempt would find it where
 * it was. */
static void let_run(pid_t tid)
{
    const int64_t before_ns = ran_ns(tid), until_ns = as_monotonic_ns() + ELSEWHERE_MOST_NS;
    int64_t now_ns;
    do {
        nap();
        now_ns = ran_ns(tid);
    } while (now_ns >= 0 && now_ns - before_ns < ELSEWHERE_NS && as_monotonic_ns() < until_ns);
}

int as_patcher_stop(uint64_t m, bool (*is_bad)(uint64_t m, uint64_t address))
{
    int error = EBUSY;
    stop.asked = 0;
    stop.signal = 0;
    if (as_agent_tasks(is_new) == 0)
        return 0;
    if (stop.confined || as_agent_is_confined())
        return EPERM;
    stop.module = m;
    stop.is_bad = is_bad;
    stop.signal = claim_unused_signal();
    if (!stop.signal)
        return EAGAIN;
    for (int i = 0; i < ATTEMPTS_MOST && error == EBUSY; i++) {
        error = stop_once();
        if (error)
            as_patcher_go_on();
        if (error == EBUSY)
            let_run(stop.bad);
    }
    if (error)
        restore_signal_action();
    return error;
}
