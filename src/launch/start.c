/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a child that waits at a gate before execve(2), so that a sampler can be opened on it. The
 * errno of a failed execve(2) comes back through a pipe, which a successful one closes. The child
 * uses only functions that are safe after fork(2), because other threads may hold any lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/task.h"
#include "launch/internal.h"

/* ---- The environment ----------------------------------------------------------------------- */

static size_t length(const char *const *words)
{
    size_t n = 0;
    while (words && words[n])
        n++;
    return n;
}

static bool same_name(const char *a, const char *b)
{
    const size_t n = strcspn(a, "=");
    return strncmp(a, b, n) == 0 && b[n] == '=';
}

/* Replaces the variable with this name, or adds it. `list` must have space. */
static void set_list_variable(const char **list, const char *variable)
{
    size_t i = 0;
    while (list[i] && !same_name(variable, list[i]))
        i++;
    list[i] = variable;
}

/* Returns the environment of this process with the variables of the options, in `arena`; NULL
 * without memory. */
static const char **compose(struct as_arena *arena, const struct as_launch_options *options)
{
    const char *const *ours = (const char *const *)environ;
    const char *const *add = options ? options->environment : NULL;
    const size_t n = length(ours), add_n = length(add);
    const char **list = as_arena_array(arena, const char *, n + add_n + 2);
    if (!list)
        return NULL;
    for (size_t i = 0; i < n; i++)
        list[i] = ours[i];
    for (size_t i = 0; add && add[i]; i++)
        set_list_variable(list, add[i]);
    if (!options || !options->preload)
        return list;
    static const char variable[] = "LD_PRELOAD=";
    const char *before = "";
    for (size_t i = 0; list[i]; i++)
        if (strncmp(list[i], variable, sizeof variable - 1) == 0)
            before = list[i] + sizeof variable - 1;
    const size_t room = sizeof variable + strlen(before) + 1 + strlen(options->preload);
    char *text = as_arena_alloc(arena, room, 1);
    if (!text)
        return NULL;
    snprintf(text, room, "%s%s%s%s", variable, before, before[0] ? ":" : "", options->preload);
    set_list_variable(list, text);
    return list;
}

/* ---- The child ----------------------------------------------------------------------------- */

struct ends {
    int gate[2], failure[2];
};

/* All signals are blocked at the start, so that none ends the child before its program can handle
 * it. */
__attribute__((noreturn)) static void be_child(const struct ends *ends, const char *path,
                                               const char *const *argv, const char *const *envp)
{
    char byte;
    ssize_t got;
    /* Required by Yama: this process and its children may trace it (agent/inject/inject.h). */
    prctl(PR_SET_PTRACER, (unsigned long)getppid());
    close(ends->gate[1]); /* otherwise the child would not notice the death of its parent */
    close(ends->failure[0]);
    as_given_restore();
    do
        got = read(ends->gate[0], &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got == 1) {
        sigprocmask(SIG_SETMASK, as_given_mask(), NULL);
        /* execve(2) does not modify the arrays; its prototype lacks const. */
        execve(path, (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)envp);
        const int why = errno;
        while (write(ends->failure[1], &why, sizeof why) < 0 && errno == EINTR)
            ;
    }
    _exit(127);
}

/* ---- Starting ------------------------------------------------------------------------------ */

static int open_ends(struct ends *ends)
{
    /* A socket, because send(2) supports MSG_NOSIGNAL. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->gate) < 0)
        return -1;
    if (pipe2(ends->failure, O_CLOEXEC) == 0)
        return 0;
    const int why = errno;
    close(ends->gate[0]);
    close(ends->gate[1]);
    errno = why;
    return -1;
}

static int cannot_start(const char *name, int why, struct as_error *err)
{
    if (why == ENOMEM)
        return as_error_nomem(err, name);
    return as_error_set(
        err, AS_ERR_LIMIT, "%s: cannot be started: %s; raise the limit of %s", name, strerror(why),
        why == EAGAIN ? "processes with 'ulimit -u'" : "open files with 'ulimit -n'");
}

static int fork_child(struct as_launch *launch, const struct as_launch_plan *plan,
                      const char *const *envp, struct as_error *err)
{
    struct ends ends;
    sigset_t all, before;
    if (open_ends(&ends) < 0)
        return cannot_start(launch->name, errno, err);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = fork();
    if (pid == 0)
        be_child(&ends, plan->path, plan->argv, envp);
    const int why = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends.gate[0]);
    close(ends.failure[1]);
    launch->gate = ends.gate[1];
    launch->failure = ends.failure[0];
    if (pid < 0)
        return cannot_start(launch->name, why, err);
    launch->pid = pid;
    return 0;
}

int as_launch_start(const struct as_launch_plan *plan, const struct as_launch_options *options,
                    struct as_launch **out, struct as_error *err)
{
    struct as_arena arena;
    *out = NULL;
    as_arena_init(&arena);
    const char **envp = compose(&arena, options);
    if (!envp) {
        as_arena_fini(&arena);
        return as_error_nomem(err, "the environment of a program");
    }
    int rc = as_launch_new(plan->path, out, err);
    if (rc == 0)
        rc = fork_child(*out, plan, envp, err);
    as_arena_fini(&arena);
    if (rc < 0)
        as_launch_close(out);
    return rc;
}

/* ---- Execution ----------------------------------------------------------------------------- */

/* Fills `err` for a failed execve(2). The plan was valid, so something changed since, or only the
 * kernel knows the reason. */
static int cannot_execute(const char *name, int why, struct as_error *err)
{
    switch (why) {
    case E2BIG:
        return as_error_set(err, AS_ERR_LIMIT,
                            "%s: cannot be executed: its arguments and environment are too long; "
                            "shorten them, or raise the stack limit with 'ulimit -s'",
                            name);
    case EACCES:
    case EPERM:
        return as_error_set(err, AS_ERR_PERMISSION,
                            "%s: cannot be executed: %s; check its permissions, and that its file "
                            "system is mounted without noexec",
                            name, strerror(why));
    case ENOENT:
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: cannot be executed: the file, its interpreter or its dynamic "
                            "loader is missing; restore it",
                            name);
    case ENOEXEC:
    case ELIBBAD:
        return as_error_set(err, AS_ERR_NOT_ELF,
                            "%s: cannot be executed: the kernel does not support its format; "
                            "build or copy it again",
                            name);
    case ETXTBSY:
        return as_error_set(err, AS_ERR_IO,
                            "%s: cannot be executed: a process is writing the file; wait until it "
                            "is complete",
                            name);
    case ENOMEM:
        return as_error_nomem(err, name);
    default:
        return as_error_set(err, AS_ERR_IO, "%s: cannot be executed: %s; check the file", name,
                            strerror(why));
    }
}

/* Reads the ready time at the start. A successful execve(2) closes the pipe before the kernel
 * begins to record (begin_new_exec in its fs/exec.c). So ready time up to now that has no record
 * came before. */
static void look_at_begun(struct as_launch *launch)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)launch->pid);
    launch->outcome.ready_begin_ns = as_task_ready_ns(path);
    launch->outcome.executed_ns = as_monotonic_ns();
}

int as_launch_go(struct as_launch *launch, struct as_error *err)
{
    int why = 0;
    ssize_t got;
    if (launch->let_go || launch->attached || !launch->pid)
        return as_error_set(err, AS_ERR_USAGE, "%s: was let go already", launch->name);
    launch->let_go = true;
    launch->outcome.start_ns = as_monotonic_ns();
    /* A child that was killed at the gate leaves no reader. Its end is then the outcome. */
    (void)send(launch->gate, "", 1, MSG_NOSIGNAL);
    close(launch->gate);
    launch->gate = -1;
    do
        got = read(launch->failure, &why, sizeof why);
    while (got < 0 && errno == EINTR);
    close(launch->failure);
    launch->failure = -1;
    if (got != (ssize_t)sizeof why) { /* closed by a successful execve(2) */
        look_at_begun(launch);
        return 0;
    }
    while (waitpid(launch->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    launch->pid = 0;
    launch->outcome.over = true;
    launch->outcome.end_ns = as_monotonic_ns();
    return cannot_execute(launch->name, why, err);
}
