/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that follows: which of the threads that stop are new, which processes have the agent,
 * and who is told of what. The parent is told of ends as ever: the kernel does that when we have
 * taken note of them.
 */
#include "agent/inject/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/inject/inject_internal.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/task.h"

#define THREADS_MOST (UINT32_C(1) << 22) /* the kernel has no higher numbers */
#define SEIZE_TRIES  20
#define SEIZE_MOST   2000 /* of one that has not had a processor yet */

static struct {
    struct as_image image;
    struct as_agent_control *control;
    const char *directory;
    uint8_t *known; /* a bit a thread */
    struct as_injected process[AS_INJECT_PROCESSES];
    unsigned processes;
    pid_t parent;
    struct as_attach_state *attached; /* to a process that ran before; NULL: to a child */
    volatile sig_atomic_t leaves;     /* we are to go */
} follow;

/* ---- Who is known ---------------------------------------------------------------------------- */

bool as_inject_note_thread(pid_t tid)
{
    const uint32_t n = (uint32_t)tid % THREADS_MOST;
    const uint8_t bit = (uint8_t)(1u << n % 8);
    const bool is_new = !(follow.known[n / 8] & bit);
    follow.known[n / 8] |= bit;
    return is_new;
}

void as_inject_forget_thread(pid_t tid)
{
    const uint32_t n = (uint32_t)tid % THREADS_MOST;
    follow.known[n / 8] &= (uint8_t) ~(1u << n % 8);
}

static struct as_injected *find_process(pid_t pid)
{
    for (unsigned i = 0; i < follow.processes; i++)
        if (follow.process[i].pid == pid)
            return &follow.process[i];
    return NULL;
}

void as_inject_forget_process(pid_t pid)
{
    struct as_injected *it = find_process(pid);
    if (it)
        *it = follow.process[--follow.processes];
}

struct as_injected *as_inject_add_process(const struct as_injected *it)
{
    if (follow.processes == AS_INJECT_PROCESSES)
        return NULL;
    follow.process[follow.processes] = *it;
    return &follow.process[follow.processes++];
}

struct as_injected *as_inject_process(unsigned number)
{
    return number < follow.processes ? &follow.process[number] : NULL;
}

/* ---- What happens ---------------------------------------------------------------------------- */

/* Begun by a process with the agent: a copy of it, or one that has its very memory (vfork). */
static void adopt_process(pid_t pid)
{
    struct as_injected *parent = find_process((pid_t)as_inject_status(pid, "\nPPid:", 10));
    struct as_injected own;
    if (!parent)
        return;
    own = *parent;
    own.pid = pid;
    /* 0: the same; below 0: not known, and then it must not be written to. */
    if (syscall(SYS_kcmp, parent->pid, pid, KCMP_VM, 0, 0) <= 0 || !as_inject_add_process(&own))
        as_inject_leave_out(parent, pid);
    else
        as_inject_notify_thread(&own, pid, AS_BARE_FORKED);
}

static void adopt_new_thread(pid_t tid)
{
    const pid_t pid = (pid_t)as_inject_status(tid, "\nTgid:", 10);
    const struct as_injected *it = pid == tid ? NULL : find_process(pid);
    const struct as_injected own = it ? *it : (struct as_injected){0};
    if (pid == tid)
        adopt_process(pid);
    else if (it)
        as_inject_notify_thread(&own, tid, AS_BARE_THREAD);
}

static void handle_exec(pid_t pid)
{
    struct as_injected it;
    unsigned long former = 0;
    as_inject_forget_process(pid);
    if (ptrace(PTRACE_GETEVENTMSG, pid, NULL, &former) == 0 && (pid_t)former != pid)
        as_inject_forget_thread(
            (pid_t)former); /* the thread that did it has the process's number now */
    as_inject_note_thread(pid);
    as_inject_forget_process(pid); /* what was in its memory is gone */
    if (!follow.attached && follow.processes < AS_INJECT_PROCESSES &&
        as_inject_program(pid, follow.control, &follow.image, follow.directory, &it) == 0)
        as_inject_add_process(&it);
}

bool as_inject_is_stopping(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static void handle_thread_stop(pid_t tid, int status)
{
    const int event = status >> 16, signal = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXEC) {
        handle_exec(tid);
    } else if (event == PTRACE_EVENT_STOP) {
        const bool is_new = as_inject_note_thread(tid);
        if (is_new)
            adopt_new_thread(tid);
        if (as_inject_is_stopping(signal) && !is_new) { /* it stays there until SIGCONT comes */
            ptrace(PTRACE_LISTEN, tid, NULL, NULL);
            return;
        }
        if (as_inject_is_stopping(signal)) /* what it ran for us has ended at another stop */
            ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
    }
    const bool is_own = event == 0 && signal != (SIGTRAP | 0x80);
    ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)(is_own ? signal : 0));
}

void as_inject_handle(pid_t tid, int status)
{
    if (WIFSTOPPED(status)) {
        handle_thread_stop(tid, status);
    } else {
        as_inject_forget_thread(tid);
        as_inject_forget_process(tid);
    }
}

void as_inject_handle_for(unsigned ms)
{
    const int64_t until_ns = as_monotonic_ns() + (int64_t)ms * 1000000;
    const struct timespec time = {0, 200000};
    for (;;) {
        int status = 0;
        const pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);
        if (tid > 0)
            as_inject_handle(tid, status);
        else if ((tid < 0 && errno == ECHILD) || as_monotonic_ns() >= until_ns)
            return;
        else
            nanosleep(&time, NULL);
    }
}

/* Until there is nobody left, or we are to go. Signals come in ppoll(2) alone: never while a thread
 * runs what is ours, and never just before a wait that they should end. */
static void follow_all(void)
{
    const struct timespec none = {0, 0};
    sigset_t waiting;
    sigprocmask(SIG_SETMASK, NULL, &waiting);
    sigdelset(&waiting, SIGTERM);
    sigdelset(&waiting, SIGCHLD);
    while (!follow.leaves) {
        int status = 0;
        const pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);
        if (tid < 0 && errno != EINTR)
            return;
        if (tid > 0)
            as_inject_handle(tid, status);
        ppoll(NULL, 0, tid > 0 ? &none : NULL, &waiting);
    }
}

/* ---- The process ----------------------------------------------------------------------------- */

/* Who asks us to go is our parent, or the kernel when that has ended. */
static void wake_up(int number)
{
    (void)number; /* ends a wait */
}

static void let_all_go(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (info->si_pid != follow.parent && getppid() == follow.parent)
        return;
    follow.leaves = 1;
}

/* Signals of the terminal are for the program; its descriptors are not for us to hold open. */
static void stand_apart(int report)
{
    struct sigaction action = {.sa_sigaction = let_all_go, .sa_flags = SA_SIGINFO};
    struct sigaction wake = {.sa_handler = wake_up};
    sigset_t mask;
    sigfillset(&mask);
    sigfillset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGCHLD, &wake, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    const int none = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3 && none >= 0; fd++)
        if (fd != report)
            dup2(none, fd);
    if (report > 3)
        syscall(SYS_close_range, 3, report - 1, 0);
    syscall(SYS_close_range, report > 2 ? report + 1 : 3, INT_MAX, 0);
}

/* 0 or errno. Under Yama a child of our parent must say first that it may be traced, which it does
 * as soon as it runs (launch/start.c); then it waits. Until then it may be in want of a processor.
 */
static int seize_child(pid_t child)
{
    const struct timespec time = {0, 10000000};
    for (int tries = 0;; tries++) {
        struct as_task task;
        if (ptrace(PTRACE_SEIZE, child, NULL, (void *)(intptr_t)AS_INJECT_OPTIONS) == 0)
            return 0;
        const int error = errno;
        const bool runs = as_task_read((uint32_t)child, &task) && task.state == 'R';
        if (error != EPERM || (tries >= SEIZE_TRIES && !runs) || tries >= SEIZE_MOST)
            return error;
        nanosleep(&time, NULL);
    }
}

static void report_to_parent(int report, int why)
{
    while (write(report, &why, sizeof why) < 0 && errno == EINTR)
        ;
    close(report);
}

static void follow_child(pid_t child, int report)
{
    const int why = seize_child(child);
    as_inject_note_thread(child);
    report_to_parent(report, why);
    if (!why)
        follow_all();
}

static void follow_attached(pid_t pid, int report)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    as_attach_enter(pid, follow.control, &follow.image, follow.directory, follow.attached);
    const bool done = follow.attached->refusal == AS_ATTACH_DONE;
    report_to_parent(report, 0);
    if (!done)
        return;
    if (getppid() == follow.parent)
        follow_all();
    as_attach_leave(follow.attached);
}

__attribute__((noreturn)) static void be_follower(pid_t pid, int report)
{
    prctl(PR_SET_NAME, "assay-follow");
    stand_apart(report);
    if (follow.attached)
        follow_attached(pid, report);
    else
        follow_child(pid, report);
    _exit(0);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static int refuse_ptrace(int why, struct as_error *err)
{
    return as_error_set(err, AS_ERR_PERMISSION,
                        "ptrace: refused, but statically linked programs need it: %s; permit it "
                        "(/proc/sys/kernel/yama/ptrace_scope below 2, SYS_PTRACE and seccomp of "
                        "the container), or link the program dynamically",
                        strerror(why));
}

static int map_control(const char *directory, struct as_error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/" AS_AGENT_CONTROL, directory);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    void *at = fd < 0 ? MAP_FAILED
                      : mmap(NULL, AS_AGENT_PAGE_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const int why = errno;
    if (fd >= 0)
        close(fd);
    follow.control = at == MAP_FAILED ? NULL : at;
    return follow.control
               ? 0
               : as_error_set(err, AS_ERR_IO, "%s: cannot be opened: %s", path, strerror(why));
}

static int read_image(const char *library, struct as_error *err)
{
    char path[PATH_MAX + sizeof AS_BARE_LIBRARY];
    const char *slash = strrchr(library, '/');
    snprintf(path, sizeof path, "%.*s" AS_BARE_LIBRARY, slash ? (int)(slash + 1 - library) : 0,
             library);
    return as_image_read(path, &follow.image, err);
}

/* `*why` is what it reports. */
static int start_follower(struct as_injector *injector, pid_t pid, int *why, struct as_error *err)
{
    int report[2];
    *why = 0;
    if (pipe2(report, O_CLOEXEC) < 0)
        return as_error_set(err, AS_ERR_LIMIT,
                            "the program cannot be observed: %s; raise the limit of open files "
                            "with 'ulimit -n'",
                            strerror(errno));
    follow.parent = getpid();
    injector->pid = fork();
    if (injector->pid == 0) {
        close(report[0]);
        be_follower(pid, report[1]);
    }
    if (injector->pid < 0)
        *why = errno;
    close(report[1]);
    ssize_t got = 0;
    while (!*why && (got = read(report[0], why, sizeof *why)) < 0 && errno == EINTR)
        ;
    if (!*why && got != (ssize_t)sizeof *why)
        *why = ESRCH;
    close(report[0]);
    return 0;
}

int as_injector_check(struct as_error *err)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 ? errno : 0);
    if (child < 0)
        return 0; /* starting the program will say why */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    const int why = WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
    return why ? refuse_ptrace(why, err) : 0;
}

/* What the follower has of us is a copy. */
static int begin_follower(struct as_injector *injector, pid_t pid, const char *directory,
                          const char *library, int *why, struct as_error *err)
{
    const int rights = PROT_READ | PROT_WRITE;
    injector->pid = 0;
    *why = 0;
    AS_TRY(map_control(directory, err));
    void *known = mmap(NULL, THREADS_MOST / 8, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int rc = known == MAP_FAILED ? as_error_nomem(err, "numbers of threads") : 0;
    follow.known = known;
    follow.directory = directory;
    follow.attached = injector->state;
    if (rc == 0)
        rc = read_image(library, err);
    if (rc == 0)
        rc = start_follower(injector, pid, why, err);
    if (known != MAP_FAILED)
        munmap(known, THREADS_MOST / 8);
    munmap(follow.control, AS_AGENT_PAGE_B);
    as_image_free(&follow.image);
    return rc;
}

int as_injector_begin(struct as_injector *injector, pid_t child, const char *directory,
                      const char *library, struct as_error *err)
{
    int why;
    injector->state = NULL;
    int rc = begin_follower(injector, child, directory, library, &why, err);
    if (rc == 0 && why)
        rc = refuse_ptrace(why, err);
    if (rc < 0)
        as_injector_end(injector);
    return rc;
}

int as_injector_attach(struct as_injector *injector, pid_t pid, const char *directory,
                       const char *library, struct as_error *err)
{
    int why;
    void *state = mmap(NULL, sizeof *injector->state, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (state == MAP_FAILED)
        return as_error_nomem(err, "the state of an attachment");
    *injector = (struct as_injector){.state = state};
    injector->state->end = AS_ATTACH_UNKNOWN;
    int rc = begin_follower(injector, pid, directory, library, &why, err);
    if (rc == 0 && why) {
        injector->state->refusal = AS_ATTACH_FORBIDDEN;
        injector->state->error = why;
    }
    if (rc == 0 && injector->state->refusal != AS_ATTACH_DONE)
        rc = as_attach_refuse(pid, injector->state, err);
    if (rc < 0)
        as_injector_end(injector);
    return rc;
}

void as_injector_leave(struct as_injector *injector)
{
    if (injector->pid <= 0)
        return;
    kill(injector->pid, SIGTERM);
    while (waitpid(injector->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    injector->pid = 0;
}

void as_injector_end(struct as_injector *injector)
{
    as_injector_leave(injector);
    if (injector->state)
        munmap(injector->state, sizeof *injector->state);
    injector->state = NULL;
}
