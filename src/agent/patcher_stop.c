/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stops threads by a signal: each waits in its handler, and tells where it stood. One that blocks
 * the signal cannot be stopped, and then nothing is changed.
 */
#include "agent/patcher_stop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/clock.h"

#define PATIENCE_NS   INT64_C(200000000)
#define THREADS_MOST  4096u
#define ATTEMPTS_MOST 20

static struct {
    _Atomic uint32_t held; /* a futex: threads wait while it is 1 */
    _Atomic uint32_t arrived, left;
    _Atomic uint32_t bad;
    _Atomic uint32_t confined;
    uint64_t module;
    bool (*is_bad)(uint64_t m, uint64_t address);
    int signal; /* that is ours now; 0: nobody is stopped */
    uint32_t asked;
    pid_t tid[THREADS_MOST];
    struct sigaction before;
} stop;

static void wait_here(int number, siginfo_t *info, void *context)
{
    const int saved = errno;
    const ucontext_t *at = context;
    (void)number;
    if (info->si_code != SI_TKILL || info->si_pid != as_agent.pid || !stop.held)
        return;
    if (stop.is_bad(stop.module, (uint64_t)at->uc_mcontext.gregs[REG_RIP]))
        stop.bad = 1;
    stop.arrived++;
    while (stop.held)
        syscall(SYS_futex, &stop.held, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
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

/* ---- Who there is --------------------------------------------------------------------------- */

static bool is_known(pid_t tid)
{
    for (uint32_t i = 0; i < stop.asked; i++)
        if (stop.tid[i] == tid)
            return true;
    return false;
}

static pid_t number_of(const char *name)
{
    pid_t tid = 0;
    for (; *name >= '0' && *name <= '9'; name++)
        tid = tid * 10 + (*name - '0');
    return *name ? 0 : tid;
}

/* Calls `each` for every other thread not known yet; how many, or -errno. */
static int for_others(int (*each)(pid_t tid))
{
    static char entries[8192] __attribute__((aligned(8)));
    const pid_t self = (pid_t)syscall(SYS_gettid);
    const int fd = as_agent_open("/proc/self/task", O_RDONLY | O_DIRECTORY);
    int found = fd < 0 ? fd : 0;
    long got = fd < 0 ? 0 : 1;
    while (got > 0 && found >= 0) {
        got = syscall(SYS_getdents64, fd, entries, sizeof entries);
        for (long at = 0; at < got && found >= 0;) {
            uint16_t size_b;
            memcpy(&size_b, entries + at + 16, sizeof size_b);
            const pid_t tid = number_of(entries + at + 19);
            at += size_b;
            if (tid == 0 || tid == self || is_known(tid))
                continue;
            const int rc = each ? each(tid) : 1;
            found = rc < 0 ? rc : found + rc;
        }
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    return found;
}

static int ask(pid_t tid)
{
    if (stop.asked == THREADS_MOST)
        return -EAGAIN;
    if (syscall(SYS_tgkill, as_agent.pid, tid, stop.signal) < 0)
        return errno == ESRCH ? 0 : -errno; /* it has ended */
    stop.tid[stop.asked++] = tid;
    return 1;
}

/* ---- Stopping ------------------------------------------------------------------------------- */

/* A signal that the program does nothing with. */
static int take_signal(void)
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
static int gather_threads(void)
{
    const int64_t until_ns = as_monotonic_ns() + PATIENCE_NS;
    for (;;) {
        const int found = for_others(ask);
        if (found < 0)
            return -found;
        while (stop.arrived < stop.asked) {
            if (as_monotonic_ns() > until_ns)
                return EAGAIN;
            nap();
        }
        if (found == 0)
            return 0;
    }
}

static int stop_once(void)
{
    stop.arrived = stop.left = stop.bad = 0;
    stop.asked = 0;
    stop.held = 1;
    const int error = gather_threads();
    return error ? error : stop.bad ? EBUSY : 0;
}

void as_patcher_go_on(void)
{
    if (!stop.signal)
        return;
    stop.held = 0;
    syscall(SYS_futex, &stop.held, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    while (stop.left < stop.arrived)
        nap();
}

/* Signals that were sent and have not come yet would have no handler: it stays where some did not
 * come, and lets them go on. */
static void give_signal_back(void)
{
    if (stop.arrived == stop.asked)
        AS_AGENT_REAL(sigaction)(stop.signal, &stop.before, NULL);
    stop.signal = 0;
}

int as_patcher_stop(uint64_t m, bool (*is_bad)(uint64_t m, uint64_t address))
{
    int error = EBUSY;
    stop.asked = 0;
    stop.signal = 0;
    if (for_others(NULL) == 0)
        return 0;
    if (stop.confined || as_agent_is_confined())
        return EPERM;
    stop.module = m;
    stop.is_bad = is_bad;
    stop.signal = take_signal();
    if (!stop.signal)
        return EAGAIN;
    for (int i = 0; i < ATTEMPTS_MOST && error == EBUSY; i++) {
        error = stop_once();
        if (error) {
            as_patcher_go_on();
            nap();
        }
    }
    if (error)
        give_signal_back();
    return error;
}
