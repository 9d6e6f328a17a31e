/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All threads of a process stand still at a stop that PTRACE_INTERRUPT made, where the kernel would
 * begin interrupted system calls again, or before a signal is delivered, which they get when they
 * go on: a handler that had begun would come back to where code is to change. Source: ptrace(2).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/inject/inject_internal.h"
#include "base/clock.h"
#include "base/task.h"

#define PATIENCE_NS INT64_C(3000000000)
#define QUEUE_NS    INT64_C(30000000000)            /* with a thread that only has no processor */
#define GET_RSEQ    ((enum __ptrace_request)0x420f) /* PTRACE_GET_RSEQ_CONFIGURATION, Linux 5.13 */
/* With which the kernel marks a system call that begins again (linux/errno.h has no user's copy).
 */
enum { RESTART_FIRST = -516, RESTART_NO_HANDLER = -514, RESTART_LAST = -512 };

struct as_stopped_thread *as_stopped_thread;
unsigned as_stopped_n;

/* ---- Who there is ---------------------------------------------------------------------------- */

static struct as_stopped_thread *find_stopped_thread(pid_t tid)
{
    for (unsigned i = as_stopped_n; i-- > 0;)
        if (as_stopped_thread[i].tid == tid)
            return &as_stopped_thread[i];
    return NULL;
}

static bool has_table(void)
{
    if (as_stopped_thread)
        return true;
    void *at = mmap(NULL, AS_STOPPED_MAX * sizeof *as_stopped_thread, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    as_stopped_thread = at == MAP_FAILED ? NULL : at;
    return as_stopped_thread;
}

/* A first thread that has ended stays in the list while others run. */
static bool has_ended(pid_t tid)
{
    struct as_task task;
    return !as_task_read((uint32_t)tid, &task) || task.state == 'Z' || task.state == 'X';
}

static bool is_runnable(pid_t tid)
{
    struct as_task task;
    return as_task_read((uint32_t)tid, &task) && task.state == 'R';
}

/* 0, or errno. One that ends, or that its maker's trace has reached already, is fine. */
static int interrupt_thread(pid_t pid, pid_t tid, bool seize)
{
    if (seize && ptrace(PTRACE_SEIZE, tid, NULL, (void *)(intptr_t)AS_INJECT_OPTIONS) == 0)
        as_inject_note_thread(tid);
    else if (seize && errno == EPERM && as_inject_status(tid, "\nTracerPid:", 10) == 0 &&
             !has_ended(tid))
        return EPERM;
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
        return 0;
    if (tid == pid && has_ended(tid)) /* its end is told when all others have ended */
        return 0;
    as_stopped_thread[as_stopped_n++] = (struct as_stopped_thread){.tid = tid};
    return 0;
}

/* Asks those that are not listed yet; how many, or a refusal below 0. */
static int interrupt_other_threads(pid_t pid, bool seize, struct as_attach_state *state)
{
    static char entries[16384] __attribute__((aligned(8)));
    char path[64] = "/proc/";
    memcpy(as_inject_number(path + 6, (uint64_t)pid), "/task", 6);
    const unsigned before = as_stopped_n;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int refusal = fd < 0 ? AS_ATTACH_GONE : AS_ATTACH_DONE;
    long got = fd < 0 ? 0 : 1;
    while (got > 0 && !refusal) {
        got = syscall(SYS_getdents64, fd, entries, sizeof entries);
        for (long at = 0; at < got && !refusal;) {
            const struct dirent64 *entry = (const void *)(entries + at);
            pid_t tid = 0;
            at += entry->d_reclen;
            for (const char *digit = entry->d_name; *digit >= '0' && *digit <= '9'; digit++)
                tid = tid * 10 + (*digit - '0');
            if (tid == 0 || find_stopped_thread(tid))
                continue;
            state->error = as_stopped_n == AS_STOPPED_MAX ? 0 : interrupt_thread(pid, tid, seize);
            state->who = tid;
            refusal = as_stopped_n == AS_STOPPED_MAX ? AS_ATTACH_MANY
                      : state->error                 ? AS_ATTACH_FORBIDDEN
                                                     : AS_ATTACH_DONE;
        }
    }
    if (fd >= 0)
        close(fd);
    return refusal ? -refusal : (int)(as_stopped_n - before);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

bool as_ptrace_read_registers(struct as_stopped_thread *it)
{
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, it->tid, NULL, &regs) < 0)
        return false;
    const bool restarts = (int64_t)regs.orig_rax >= 0 && (int64_t)regs.rax >= RESTART_FIRST &&
                          (int64_t)regs.rax <= RESTART_LAST;
    it->pc = regs.rip;
    it->again = restarts ? regs.rip - AS_BARE_SYSCALL_B : regs.rip;
    it->sp = regs.rsp;
    it->base = regs.gs_base;
    it->segment = regs.cs;
    return true;
}

/* Some waits end with EINTR whatever interrupts them (signal(7)); nothing has happened in them
 * then, and they begin again as others do, if no handler runs. */
static void mend_wait(pid_t tid)
{
    static const uint16_t number[] = {
        SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2,    SYS_semop,        SYS_semtimedop,
        SYS_recvfrom,   SYS_recvmsg,     SYS_rt_sigtimedwait, SYS_accept,       SYS_accept4,
        SYS_read,       SYS_readv,       SYS_io_getevents,    SYS_io_pgetevents};
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) < 0 || (int64_t)regs.rax != -EINTR)
        return;
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        if (regs.orig_rax == number[i]) {
            regs.rax = (uint64_t)RESTART_NO_HANDLER;
            ptrace(PTRACE_SETREGS, tid, NULL, &regs);
        }
}

/* What stopped it; it goes on to where it was asked to. False: it is no more, or another program.
 */
static bool handle_stop(struct as_stopped_thread *it, int status)
{
    const int event = status >> 16, signal = WSTOPSIG(status);
    if (!WIFSTOPPED(status) || event == PTRACE_EVENT_EXEC) {
        as_inject_handle(it->tid, status);
        return false;
    }
    if (event == PTRACE_EVENT_STOP) {
        it->is_held = true;
        it->is_grouped = signal != SIGTRAP;
        it->is_new |= as_inject_note_thread(it->tid);
        mend_wait(it->tid);
        return as_ptrace_read_registers(it);
    }
    const bool is_signal = event == 0 && signal != (SIGTRAP | 0x80);
    if (is_signal && !as_inject_is_stopping(signal)) {
        it->signal = signal;
        it->is_held = ptrace(PTRACE_GETSIGINFO, it->tid, NULL, &it->info) == 0;
        return as_ptrace_read_registers(it);
    }
    ptrace(PTRACE_CONT, it->tid, NULL, (void *)(intptr_t)(is_signal ? signal : 0));
    ptrace(PTRACE_INTERRUPT, it->tid, NULL, NULL); /* that stop has taken the place of this one */
    return true;
}

/* Takes note of all that has happened, also to others: a thread that waits for its child to execute
 * stops when that was let go on. The first that does not stand still yet, or NULL. */
static struct as_stopped_thread *look_around(void)
{
    int status = 0;
    for (pid_t tid; (tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0;) {
        struct as_stopped_thread *it = find_stopped_thread(tid);
        if (!it)
            as_inject_handle(tid, status);
        else if (!handle_stop(it, status))
            *it = as_stopped_thread[--as_stopped_n];
    }
    for (unsigned i = 0; i < as_stopped_n; i++)
        if (!as_stopped_thread[i].is_held)
            return &as_stopped_thread[i];
    return NULL;
}

static enum as_attach_refusal stop_all_threads(pid_t pid, bool seize, struct as_attach_state *state)
{
    const struct timespec time = {0, 50000};
    const int64_t until_ns = as_monotonic_ns() + PATIENCE_NS;
    for (;;) {
        const int asked = interrupt_other_threads(pid, seize, state);
        if (asked < 0)
            return (enum as_attach_refusal) - asked;
        for (struct as_stopped_thread *waits; (waits = look_around());) {
            state->who = waits->tid;
            if (waits->tid == pid && has_ended(pid)) {
                *waits = as_stopped_thread[--as_stopped_n];
                continue;
            }
            const int64_t now_ns = as_monotonic_ns();
            if (now_ns > until_ns && (now_ns > until_ns + QUEUE_NS || !is_runnable(waits->tid)))
                return AS_ATTACH_DEAF;
            nanosleep(&time, NULL);
        }
        if (as_stopped_n == 0)
            return AS_ATTACH_GONE;
        if (asked == 0)
            return AS_ATTACH_DONE;
    }
}

enum as_attach_refusal as_ptrace_stop_all(pid_t pid, bool seize, struct as_attach_state *state)
{
    if (!has_table())
        return AS_ATTACH_NO_MEMORY;
    as_stopped_n = 0;
    const enum as_attach_refusal refusal = stop_all_threads(pid, seize, state);
    if (refusal)
        as_ptrace_resume_all();
    return refusal;
}

/* ---- Using and letting go -------------------------------------------------------------------- */

pid_t as_ptrace_living(void)
{
    return as_stopped_n ? as_stopped_thread[0].tid : 0;
}

/* Whether it stands in a restartable sequence (rseq(2)): the kernel, which would send it to the
 * beginning, forgets that when it sees it elsewhere. */
static bool is_in_sequence(const struct as_stopped_thread *it, int memory)
{
    struct {
        uint64_t at;
        uint32_t size_b, signature, flags, none;
    } area = {0};
    struct {
        uint32_t version, flags;
        uint64_t start, size_b, abort;
    } sequence;
    uint64_t at = 0;
    return ptrace(GET_RSEQ, it->tid, (void *)sizeof area, &area) > 0 && area.at &&
           as_inject_read(memory, area.at + 8, &at, sizeof at) && at &&
           as_inject_read(memory, at, &sequence, sizeof sequence) &&
           it->pc - sequence.start < sequence.size_b;
}

/* One that waits in no system call has least to lose; the same again where it can be. */
struct as_stopped_thread *as_ptrace_leader(int memory)
{
    struct as_stopped_thread *found = NULL;
    for (unsigned i = 0, best = 0; i < as_stopped_n && best < 4; i++) {
        struct as_stopped_thread *it = &as_stopped_thread[i];
        const unsigned good = is_in_sequence(it, memory) ? 1
                              : it->is_grouped           ? 2
                              : it->signal               ? 2
                              : it->again != it->pc      ? 3
                                                         : 4;
        if (good > best) {
            found = it;
            best = good;
        }
    }
    if (found)
        found->is_moved = true;
    return found;
}

static void let_go(const struct as_stopped_thread *it, enum __ptrace_request how)
{
    if (it->signal)
        ptrace(PTRACE_SETSIGINFO, it->tid, NULL, &it->info);
    ptrace(how, it->tid, NULL, (void *)(intptr_t)it->signal);
}

/* On to the stop of PTRACE_INTERRUPT, at which others stand. */
static void go_back_to_stop(const struct as_stopped_thread *it)
{
    ptrace(PTRACE_INTERRUPT, it->tid, NULL, NULL);
    let_go(it, PTRACE_CONT);
}

static void settle_thread(struct as_stopped_thread *it)
{
    int status = 0;
    go_back_to_stop(it);
    it->is_held = it->is_moved = false;
    it->signal = 0;
    while (!it->is_held) {
        const pid_t got = waitpid(it->tid, &status, __WALL);
        if ((got < 0 && errno != EINTR) || (got > 0 && !handle_stop(it, status)))
            return;
    }
}

#define SIGTRAP_BIT (UINT64_C(1) << (SIGTRAP - 1))

/* The trap that ends a step would change that it is ignored. */
static bool may_step(const struct as_stopped_thread *it)
{
    return it->again == it->pc && !it->is_grouped &&
           !(as_inject_status(it->tid, "\nSigIgn:", 16) & SIGTRAP_BIT);
}

void as_ptrace_step(struct as_stopped_thread *it)
{
    if (!may_step(it))
        return;
    it->is_moved = true;
    as_inject_step(it->tid);
    as_ptrace_read_registers(it);
}

void as_ptrace_redirect(struct as_stopped_thread *it, uint64_t pc)
{
    struct user_regs_struct regs;
    if (it->again != it->pc || ptrace(PTRACE_GETREGS, it->tid, NULL, &regs) < 0)
        return;
    regs.rip = pc;
    ptrace(PTRACE_SETREGS, it->tid, NULL, &regs);
    as_ptrace_read_registers(it);
}

void as_ptrace_resume_all(void)
{
    for (unsigned i = 0; i < as_stopped_n; i++) {
        const struct as_stopped_thread *it = &as_stopped_thread[i];
        if (it->is_held && it->is_moved)
            go_back_to_stop(it); /* as_inject_handle lets it go on, or listen */
        else if (it->is_held)
            let_go(it, it->is_grouped ? PTRACE_LISTEN : PTRACE_CONT);
    }
    as_stopped_n = 0;
}

void as_ptrace_detach(void)
{
    for (unsigned i = 0; i < as_stopped_n; i++) {
        if (as_stopped_thread[i].is_moved)
            settle_thread(&as_stopped_thread[i]);
        let_go(&as_stopped_thread[i], PTRACE_DETACH);
        as_inject_forget_thread(as_stopped_thread[i].tid);
    }
    as_stopped_n = 0;
}
