/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a program to its end: handles signals to assay meanwhile, and records how the program
 * ended.
 *
 * Ctrl-C at the terminal reaches the whole foreground process group, so the program gets it too. It
 * is recorded and the run continues, because the program may handle it. A signal sent only to assay
 * is forwarded.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/task.h"
#include "launch/internal.h"

#define IN_A_ROW_NS 2000000000u

/* ---- Create and close ------------------------------------------------------------------------ */

int as_launch_add_fd(struct as_launch *launch, int fd, struct as_error *err)
{
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(launch->fd, EPOLL_CTL_ADD, fd, &event) == 0)
        return 0;
    return as_error_set(err, AS_ERR_LIMIT,
                        "%s: cannot be observed: %s; raise /proc/sys/fs/epoll/max_user_watches",
                        launch->name, strerror(errno));
}

int as_launch_new(const char *name, struct as_launch **out, struct as_error *err)
{
    *out = NULL;
    AS_TRY(as_watch_begin(err));
    struct as_launch *l = *out = as_calloc(1, sizeof *l);
    if (!l) {
        as_watch_end();
        return as_error_nomem(err, name);
    }
    snprintf(l->name, sizeof l->name, "%s", name);
    l->gate = l->failure = l->end = -1;
    l->outcome.ready_begin_ns = l->outcome.ready_end_ns = -1;
    l->fd = epoll_create1(EPOLL_CLOEXEC);
    if (l->fd < 0)
        return as_error_set(err, AS_ERR_LIMIT,
                            "%s: cannot be observed: %s; raise the limit of open files with "
                            "'ulimit -n'",
                            name, strerror(errno));
    return as_launch_add_fd(l, as_watch_fd(), err);
}

static void close_one(int fd)
{
    if (fd >= 0)
        close(fd);
}

void as_launch_close(struct as_launch **launch)
{
    struct as_launch *l = *launch;
    if (!l)
        return;
    close_one(l->gate); /* a child that still waits at the gate sees it and exits */
    if (l->pid && !l->attached && !l->let_go)
        while (waitpid(l->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    close_one(l->failure);
    close_one(l->end);
    close_one(l->fd);
    as_watch_end();
    as_free(l);
    *launch = NULL;
}

pid_t as_launch_pid(const struct as_launch *launch)
{
    return launch->pid;
}

int as_launch_fd(const struct as_launch *launch)
{
    return launch->fd;
}

/* ---- Signals -------------------------------------------------------------------------------- */

static void note_interrupt(struct as_launch *l)
{
    const uint64_t now = as_monotonic_ns();
    struct as_launch_outcome *o = &l->outcome;
    o->interrupts = now - l->last_interrupt_ns < IN_A_ROW_NS ? o->interrupts + 1 : 1;
    l->last_interrupt_ns = now;
}

static void end_now(struct as_launch *l)
{
    l->outcome.over = true;
    l->outcome.end_ns = as_monotonic_ns();
}

static bool is_to_end(int signal)
{
    return signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP;
}

static void handle_launch_signal(struct as_launch *l, const struct as_watch_signal *got)
{
    if (!as_watch_forwards(got->signal))
        return; /* SIGCHLD only wakes the loop */
    if (is_to_end(got->signal))
        l->outcome.interrupted = true;
    if (got->signal == SIGINT)
        note_interrupt(l);
    if (l->outcome.over)
        return;
    if (l->attached) {
        if (is_to_end(got->signal)) {
            l->outcome.left = true;
            end_now(l);
        }
    } else if (!got->by_kernel && l->pid) {
        kill(l->pid, got->signal);
    }
}

int as_launch_signal(struct as_launch *launch, int signal, struct as_error *err)
{
    if (launch->attached)
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: was not started by assay, so it gets no signal; use kill(1)",
                            launch->name);
    if (launch->outcome.over || !launch->pid)
        return 0;
    if (kill(launch->pid, signal) == 0 || errno == ESRCH)
        return 0;
    return as_error_set(err, errno == EPERM ? AS_ERR_PERMISSION : AS_ERR_IO,
                        "%s: signal %d cannot be sent to process %d: %s; end it with kill(1) as "
                        "its user",
                        launch->name, signal, (int)launch->pid, strerror(errno));
}

/* ---- The end -------------------------------------------------------------------------------- */

static uint64_t time_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static void record_child_end(struct as_launch *l, int status, const struct rusage *usage)
{
    struct as_launch_outcome *o = &l->outcome;
    end_now(l);
    o->exited = WIFEXITED(status);
    o->signalled = WIFSIGNALED(status);
    o->exit_code = o->exited ? WEXITSTATUS(status) : 0;
    o->exit_signal = o->signalled ? WTERMSIG(status) : 0;
    o->core_dumped = o->signalled && WCOREDUMP(status);
    o->user_ns = time_ns(usage->ru_utime);
    o->system_ns = time_ns(usage->ru_stime);
    o->resident_max_b = (uint64_t)usage->ru_maxrss * 1024; /* Linux counts in KiB */
    o->fault_major_n = (uint64_t)usage->ru_majflt;
    o->fault_minor_n = (uint64_t)usage->ru_minflt;
    o->switch_voluntary_n = (uint64_t)usage->ru_nvcsw;
    o->switch_involuntary_n = (uint64_t)usage->ru_nivcsw;
}

/* Reads facts that disappear when the process is waited for. */
static void look_at_ended(struct as_launch *l)
{
    siginfo_t info = {0};
    char path[64];
    if (waitid(P_PID, (id_t)l->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid)
        return;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)l->pid);
    l->outcome.ready_end_ns = as_task_ready_ns(path);
}

/* Checks for the end. Only the parent can read the exit status and resource usage of a child. */
static int look_for_end(struct as_launch *l, struct as_error *err)
{
    int status;
    struct rusage usage;
    if (l->attached) {
        if (as_attached_ended(l))
            end_now(l);
        return 0;
    }
    look_at_ended(l);
    const pid_t got = wait4(l->pid, &status, WNOHANG, &usage);
    if (got == l->pid) {
        record_child_end(l, status, &usage);
    } else if (got < 0 && errno != EINTR) {
        const int why = errno;
        end_now(l);
        return as_error_set(err, AS_ERR_IO,
                            "%s: process %d cannot be waited for: %s; its exit status is lost",
                            l->name, (int)l->pid, strerror(why));
    }
    return 0;
}

int as_launch_step(struct as_launch *launch, struct as_error *err)
{
    struct as_watch_signal got;
    while (as_watch_next(&got))
        handle_launch_signal(launch, &got);
    if (!launch->outcome.over)
        AS_TRY(look_for_end(launch, err));
    return launch->outcome.over ? 0 : 1;
}

const struct as_launch_outcome *as_launch_outcome(const struct as_launch *launch)
{
    return &launch->outcome;
}
