/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a program in two steps and following it: it waits on a pipe until the sampler is ready,
 * then executes. Its end and the signals that come to us meanwhile are read from one descriptor.
 *
 * Signals. Ctrl-C goes from the terminal to all processes in front, so the program has it already;
 * we note it and wait for the end. What is sent to us alone (kill) is passed on. Three Ctrl-C in a
 * row kill a program that does not listen.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "launch/internal.h"

#define KILL_AFTER  3
#define IN_A_ROW_NS 2000000000u

struct assay_launch {
    pid_t pid;
    bool attached, started; /* started: it was let go */
    int go;                 /* a byte here lets the child execute */
    int failure;            /* its errno comes from here when it cannot; closed by executing */
    int signals, pidfd, fd; /* fd: epoll over both */
    sigset_t old_mask;
    uint64_t last_interrupt_ns;
    const struct assay_launch_plan *plan;
    struct assay_launch_outcome outcome;
};

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- What we were given -------------------------------------------------------------------- */

/* Dispositions that this program changes for itself; the child gets them as they were. */
static struct sigaction given_pipe, given_size;

__attribute__((constructor)) static void note_given(void)
{
    sigaction(SIGPIPE, NULL, &given_pipe);
    sigaction(SIGXFSZ, NULL, &given_size);
}

/* ---- Watching ------------------------------------------------------------------------------ */

static int add_watch(const struct assay_launch *l, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(l->fd, EPOLL_CTL_ADD, fd, &event);
}

static int watch_signals(struct assay_launch *l, struct assay_error *err)
{
    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGHUP);
    sigaddset(&watched, SIGQUIT);
    pthread_sigmask(SIG_BLOCK, &watched, &l->old_mask);
    l->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    l->fd = epoll_create1(EPOLL_CLOEXEC);
    if (l->signals < 0 || l->fd < 0 || add_watch(l, l->signals) < 0)
        return as_error_set(err, errno == EMFILE ? ASSAY_ERR_LIMIT : ASSAY_ERR_IO,
                            "signals: cannot be watched: %s; raise the limit of descriptors "
                            "(ulimit -n)",
                            strerror(errno));
    return 0;
}

static int watch_end(struct assay_launch *l, struct assay_error *err)
{
    l->pidfd = (int)syscall(SYS_pidfd_open, l->pid, 0);
    if (l->pidfd >= 0 && add_watch(l, l->pidfd) == 0)
        return 0;
    if (errno == ENOSYS || errno == EPERM)
        return 0; /* then the end is noticed by looking now and then */
    return as_error_set(err, errno == ESRCH ? ASSAY_ERR_NOT_FOUND : ASSAY_ERR_LIMIT,
                        "process %d: cannot be watched: %s; check that it still runs", (int)l->pid,
                        strerror(errno));
}

static struct assay_launch *new_launch(struct assay_error *err)
{
    struct assay_launch *l = as_calloc(1, sizeof *l);
    if (!l) {
        as_error_nomem(err, "a launch");
        return NULL;
    }
    l->go = l->failure = l->signals = l->pidfd = l->fd = -1;
    if (watch_signals(l, err) < 0)
        assay_launch_close(&l);
    return l;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void assay_launch_close(struct assay_launch **launch)
{
    struct assay_launch *l = *launch;
    if (!l)
        return;
    close_one(&l->go); /* a child that still waits reads the end and goes */
    if (!l->attached && l->pid > 0 && !l->started)
        waitpid(l->pid, NULL, 0);
    close_one(&l->failure);
    close_one(&l->fd);
    close_one(&l->pidfd);
    if (l->signals >= 0) {
        close_one(&l->signals);
        pthread_sigmask(SIG_SETMASK, &l->old_mask, NULL);
    }
    as_free(l);
    *launch = NULL;
}

/* ---- The child ----------------------------------------------------------------------------- */

static void set_environment(const struct assay_launch_options *options)
{
    const char *const *word = options ? options->environment : NULL;
    for (; word && *word; word++)
        putenv((char *)(uintptr_t)*word); /* the child's own memory */
}

__attribute__((noreturn)) static void be_child(const struct assay_launch *l, int go, int failure,
                                               const struct assay_launch_options *options)
{
    char byte;
    ssize_t got;
    set_environment(options);
    sigaction(SIGPIPE, &given_pipe, NULL);
    sigaction(SIGXFSZ, &given_size, NULL);
    pthread_sigmask(SIG_SETMASK, &l->old_mask, NULL);
    do
        got = read(go, &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got == 1) {
        execv(l->plan->path, (char *const *)(uintptr_t)l->plan->argv);
        const int why = errno;
        if (write(failure, &why, sizeof why) < 0)
            _exit(126);
    }
    _exit(127);
}

int assay_launch_start(const struct assay_launch_plan *plan,
                       const struct assay_launch_options *options, struct assay_launch **out,
                       struct assay_error *err)
{
    int go[2], failure[2];
    struct assay_launch *l = *out = new_launch(err);
    if (!l)
        return err ? err->code : ASSAY_ERR_NOMEM;
    l->plan = plan;
    if (pipe2(go, O_CLOEXEC) < 0)
        goto refused;
    l->go = go[1];
    if (pipe2(failure, O_CLOEXEC) < 0) {
        close(go[0]);
        goto refused;
    }
    l->failure = failure[0];
    l->pid = fork();
    if (l->pid == 0) {
        close(go[1]); /* or it would never read the end when we die */
        be_child(l, go[0], failure[1], options);
    }
    close(go[0]);
    close(failure[1]);
    if (l->pid < 0)
        goto refused;
    const int rc = watch_end(l, err);
    if (rc < 0)
        assay_launch_close(out);
    return rc;
refused:
    as_error_set(err, ASSAY_ERR_LIMIT,
                 "%s: cannot be started: %s; raise the limit of processes (ulimit -u) or "
                 "descriptors (ulimit -n)",
                 plan->path, strerror(errno));
    l->pid = 0;
    assay_launch_close(out);
    return ASSAY_ERR_LIMIT;
}

static int cannot_execute(const struct assay_launch *l, int why, struct assay_error *err)
{
    const char *path = l->plan->path;
    switch (why) {
    case E2BIG:
        return as_error_set(err, ASSAY_ERR_LIMIT,
                            "%s: its arguments and environment are too long; shorten them, or "
                            "raise the stack's limit (ulimit -s)",
                            path);
    case EACCES:
    case EPERM:
        return as_error_set(err, ASSAY_ERR_PERMISSION,
                            "%s: may not be executed: %s; check its rights and how its file "
                            "system is mounted",
                            path, strerror(why));
    case ENOENT:
        return as_error_set(err, ASSAY_ERR_NOT_FOUND,
                            "%s: cannot be executed: it, its interpreter or its loader is gone; "
                            "check the name",
                            path);
    case ENOEXEC:
        return as_error_set(err, ASSAY_ERR_NOT_ELF,
                            "%s: is no program that this kernel can execute; build it again", path);
    default:
        return as_error_set(err, ASSAY_ERR_IO, "%s: cannot be executed: %s; check the file", path,
                            strerror(why));
    }
}

int assay_launch_go(struct assay_launch *launch, struct assay_error *err)
{
    int why = 0;
    ssize_t got;
    launch->outcome.start_ns = now_ns();
    launch->started = true;
    if (write(launch->go, "g", 1) != 1)
        return as_error_set(err, ASSAY_ERR_IO, "%s: ended before it was started; try again",
                            launch->plan->path);
    close_one(&launch->go);
    do
        got = read(launch->failure, &why, sizeof why);
    while (got < 0 && errno == EINTR);
    close_one(&launch->failure);
    if (got != sizeof why)
        return 0; /* closed by executing */
    waitpid(launch->pid, NULL, 0);
    launch->pid = 0;
    return cannot_execute(launch, why, err);
}

/* ---- Attaching ----------------------------------------------------------------------------- */

/* The thread group of `pid`, or 0. */
static pid_t group_of(pid_t pid)
{
    char path[64], line[256];
    pid_t group = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "Tgid:", 5) == 0)
            group = (pid_t)strtol(line + 5, NULL, 10);
    if (f)
        fclose(f);
    return group;
}

static int check_process(pid_t pid, struct assay_error *err)
{
    char path[64], target[8];
    if (pid <= 0 || pid == getpid())
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "process %d: cannot be profiled; name the process of another program",
                            (int)pid);
    const pid_t group = group_of(pid);
    if (group == 0)
        return as_error_set(err, ASSAY_ERR_NOT_FOUND,
                            "process %d: there is none of this number; see ps", (int)pid);
    if (group != pid)
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "process %d: is a thread of process %d; name that one", (int)pid,
                            (int)group);
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    if (readlink(path, target, sizeof target) >= 0)
        return 0;
    if (errno == EACCES || errno == EPERM)
        return as_error_set(err, ASSAY_ERR_PERMISSION,
                            "process %d: belongs to another user or is protected; run as that user "
                            "or as root (sudo)",
                            (int)pid);
    return as_error_set(err, ASSAY_ERR_UNSUPPORTED,
                        "process %d: has no program: it is a kernel thread or has ended", (int)pid);
}

int assay_launch_attach(pid_t pid, struct assay_launch **out, struct assay_error *err)
{
    *out = NULL;
    AS_TRY(check_process(pid, err));
    struct assay_launch *l = *out = new_launch(err);
    if (!l)
        return err ? err->code : ASSAY_ERR_NOMEM;
    l->pid = pid;
    l->attached = l->started = true;
    l->outcome.start_ns = now_ns();
    const int rc = watch_end(l, err);
    if (rc < 0)
        assay_launch_close(out);
    return rc;
}

/* ---- Following ----------------------------------------------------------------------------- */

pid_t assay_launch_pid(const struct assay_launch *launch)
{
    return launch->pid;
}

int assay_launch_fd(const struct assay_launch *launch)
{
    return launch->fd;
}

const struct assay_launch_outcome *assay_launch_outcome(const struct assay_launch *launch)
{
    return &launch->outcome;
}

static void take_interrupt(struct assay_launch *l, bool from_terminal)
{
    const uint64_t now = now_ns();
    l->outcome.interrupted = true;
    l->outcome.interrupts =
        now - l->last_interrupt_ns < IN_A_ROW_NS ? l->outcome.interrupts + 1 : 1;
    l->last_interrupt_ns = now;
    if (l->outcome.interrupts >= KILL_AFTER)
        kill(l->pid, SIGKILL);
    else if (!from_terminal)
        kill(l->pid, SIGINT);
}

static void take_signal(struct assay_launch *l, const struct signalfd_siginfo *info)
{
    const bool from_terminal = info->ssi_code == SI_KERNEL;
    const int signal = (int)info->ssi_signo;
    if (l->attached) {
        l->outcome.interrupted = l->outcome.left = l->outcome.over = true;
        l->outcome.end_ns = now_ns();
    } else if (signal == SIGINT) {
        take_interrupt(l, from_terminal);
    } else {
        l->outcome.interrupted = true;
        if (!from_terminal)
            kill(l->pid, signal);
    }
}

static uint64_t time_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static void take_end(struct assay_launch *l, int status, const struct rusage *usage)
{
    struct assay_launch_outcome *o = &l->outcome;
    o->over = true;
    o->end_ns = now_ns();
    o->exited = WIFEXITED(status);
    o->signalled = WIFSIGNALED(status);
    o->exit_code = o->exited ? WEXITSTATUS(status) : 0;
    o->exit_signal = o->signalled ? WTERMSIG(status) : 0;
    o->core_dumped = o->signalled && WCOREDUMP(status);
    o->user_ns = time_ns(usage->ru_utime);
    o->system_ns = time_ns(usage->ru_stime);
    o->resident_max_b = (uint64_t)usage->ru_maxrss * 1024;
    o->fault_major_n = (uint64_t)usage->ru_majflt;
    o->fault_minor_n = (uint64_t)usage->ru_minflt;
    o->switch_voluntary_n = (uint64_t)usage->ru_nvcsw;
    o->switch_involuntary_n = (uint64_t)usage->ru_nivcsw;
}

static void look_for_end(struct assay_launch *l)
{
    int status;
    struct rusage usage;
    if (l->attached) {
        if (kill(l->pid, 0) < 0 && errno == ESRCH) {
            l->outcome.over = true;
            l->outcome.end_ns = now_ns();
        }
        return;
    }
    if (wait4(l->pid, &status, WNOHANG, &usage) == l->pid)
        take_end(l, status, &usage);
}

/* An attached process that has ended but is not waited for by its parent is over too. */
static bool pidfd_says_over(const struct assay_launch *l)
{
    struct epoll_event event[2];
    const int n = l->attached && l->pidfd >= 0 ? epoll_wait(l->fd, event, 2, 0) : 0;
    for (int i = 0; i < n; i++)
        if (event[i].data.fd == l->pidfd)
            return true;
    return false;
}

int assay_launch_step(struct assay_launch *launch, struct assay_error *err)
{
    struct signalfd_siginfo info;
    (void)err;
    while (!launch->outcome.over && read(launch->signals, &info, sizeof info) == sizeof info)
        take_signal(launch, &info);
    if (!launch->outcome.over)
        look_for_end(launch);
    if (!launch->outcome.over && pidfd_says_over(launch)) {
        launch->outcome.over = true;
        launch->outcome.end_ns = now_ns();
    }
    return launch->outcome.over ? 0 : 1;
}

int assay_launch_signal(struct assay_launch *launch, int signal, struct assay_error *err)
{
    if (launch->attached)
        return as_error_set(err, ASSAY_ERR_USAGE, "process %d: is not ours to signal; use kill(1)",
                            (int)launch->pid);
    if (!launch->outcome.over && launch->pid > 0)
        kill(launch->pid, signal);
    return 0;
}

int assay_launch_exit_status(const struct assay_launch_outcome *outcome)
{
    if (outcome->signalled)
        return 128 + outcome->exit_signal;
    return outcome->exited ? outcome->exit_code : 0;
}
