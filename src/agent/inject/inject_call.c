/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Letting a thread that stands at a stop of ptrace(2) do something for us, and putting back all
 * that it had: registers, mask of signals. Vector registers stay, for nothing that runs uses them.
 * Signals that cannot be blocked wait until it is done.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/inject/inject_internal.h"
#include "agent/shared/control.h"

#define SYSCALL_STOP (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */

/* ---- Memory --------------------------------------------------------------------------------- */

int as_inject_memory(pid_t pid)
{
    char path[64] = "/proc/";
    char *at = as_inject_number(path + 6, (uint64_t)pid);
    memcpy(at, "/mem", 5);
    return open(path, O_RDWR | O_CLOEXEC);
}

bool as_inject_read(int memory, uint64_t at, void *out, size_t n)
{
    return pread(memory, out, n, (off_t)at) == (ssize_t)n;
}

bool as_inject_write(int memory, uint64_t at, const void *from, size_t n)
{
    return pwrite(memory, from, n, (off_t)at) == (ssize_t)n;
}

/* ---- Registers and signals ------------------------------------------------------------------ */

/* What a thread had, and what came meanwhile. */
struct kept {
    struct user_regs_struct regs;
    uint64_t mask;
    bool is_grouped; /* the whole process was stopped */
};

/* All but those that the thread itself could cause. */
static bool save_thread_state(pid_t tid, struct kept *kept)
{
    const uint64_t own = UINT64_C(1) << (SIGTRAP - 1) | UINT64_C(1) << (SIGSEGV - 1) |
                         UINT64_C(1) << (SIGBUS - 1) | UINT64_C(1) << (SIGILL - 1) |
                         UINT64_C(1) << (SIGFPE - 1) | UINT64_C(1) << (SIGSYS - 1);
    uint64_t blocked = ~own;
    *kept = (struct kept){0};
    return ptrace(PTRACE_GETREGS, tid, NULL, &kept->regs) == 0 &&
           ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof kept->mask, &kept->mask) == 0 &&
           ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof blocked, &blocked) == 0;
}

static bool restore_thread_state(pid_t tid, struct kept *kept)
{
    const bool good = ptrace(PTRACE_SETREGS, tid, NULL, &kept->regs) == 0 &&
                      ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof kept->mask, &kept->mask) == 0;
    if (kept->is_grouped) /* stops once more, to be left there */
        ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
    return good;
}

/*
 * Until it stops by `signal`; false: it ended, or stopped by one of the others that it could cause.
 * A SIGSTOP that comes meanwhile is handed on at once, so that the kernel knows that the process is
 * stopped, and a SIGCONT behind it undoes that: kept back and sent later it would come after its
 * SIGCONT. We go on all the same, as a tracer may.
 */
static bool go_until(pid_t tid, enum __ptrace_request how, int signal, struct kept *kept)
{
    for (intptr_t deliver = 0;;) {
        int status = 0;
        if (ptrace(how, tid, NULL, (void *)deliver) < 0)
            return false;
        while (waitpid(tid, &status, __WALL) < 0)
            if (errno != EINTR)
                return false;
        const int event = status >> 16, by = WSTOPSIG(status);
        if (!WIFSTOPPED(status) || event == PTRACE_EVENT_EXEC) {
            as_inject_handle(tid, status);
            return false;
        }
        if (event == 0 && by == signal)
            return true;
        deliver = event == 0 && by == SIGSTOP ? by : 0;
        if (event == PTRACE_EVENT_STOP)
            kept->is_grouped |= by != SIGTRAP;
        else if (event == 0 && !deliver)
            return false;
    }
}

bool as_inject_leave_execve(pid_t tid)
{
    struct kept kept;
    if (!save_thread_state(tid, &kept) || !go_until(tid, PTRACE_SYSCALL, SYSCALL_STOP, &kept) ||
        ptrace(PTRACE_GETREGS, tid, NULL, &kept.regs) < 0)
        return false;
    return restore_thread_state(tid, &kept);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

int as_inject_syscall(pid_t tid, uint64_t at, const uint64_t argument[7], int64_t *out)
{
    struct kept kept;
    if (!save_thread_state(tid, &kept))
        return -1;
    struct user_regs_struct regs = kept.regs;
    regs.orig_rax = UINT64_MAX; /* nothing is to be restarted */
    regs.rip = at;
    regs.rax = argument[0];
    regs.rdi = argument[1];
    regs.rsi = argument[2];
    regs.rdx = argument[3];
    regs.r10 = argument[4];
    regs.r8 = argument[5];
    regs.r9 = argument[6];
    const bool done = ptrace(PTRACE_SETREGS, tid, NULL, &regs) == 0 &&
                      go_until(tid, PTRACE_SYSCALL, SYSCALL_STOP, &kept) &&
                      go_until(tid, PTRACE_SYSCALL, SYSCALL_STOP, &kept) &&
                      ptrace(PTRACE_GETREGS, tid, NULL, &regs) == 0;
    *out = (int64_t)regs.rax;
    return restore_thread_state(tid, &kept) && done ? 0 : -1;
}

int as_inject_hook(pid_t tid, uint64_t entry, uint64_t hook, uint64_t given)
{
    struct kept kept;
    if (!save_thread_state(tid, &kept))
        return -1;
    struct user_regs_struct regs = kept.regs;
    regs.orig_rax = UINT64_MAX;
    regs.rip = entry;
    regs.rdi = hook;
    regs.rsi = given;
    const bool done = ptrace(PTRACE_SETREGS, tid, NULL, &regs) == 0 &&
                      go_until(tid, PTRACE_CONT, SIGTRAP, &kept) &&
                      ptrace(PTRACE_GETREGS, tid, NULL, &regs) == 0;
    if (done)
        kept.regs.gs_base = regs.gs_base;
    return restore_thread_state(tid, &kept) && done ? 0 : -1;
}

int as_inject_set_gs(pid_t tid, uint64_t base)
{
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) < 0)
        return -1;
    regs.gs_base = base;
    return ptrace(PTRACE_SETREGS, tid, NULL, &regs) < 0 ? -1 : 0;
}

int as_inject_step(pid_t tid)
{
    struct kept kept;
    if (!save_thread_state(tid, &kept))
        return -1;
    const bool done = go_until(tid, PTRACE_SINGLESTEP, SIGTRAP, &kept);
    return ptrace(PTRACE_GETREGS, tid, NULL, &kept.regs) == 0 && restore_thread_state(tid, &kept) &&
                   done
               ? 0
               : -1;
}
