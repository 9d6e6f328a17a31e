/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process that runs can be entered, and why not, in the words of its user. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/inject/inject.h"
#include "agent/inject/inject_internal.h"
#include "base/error.h"
#include "base/io_full.h"
#include "base/task.h"

#define YAMA "/proc/sys/kernel/yama/ptrace_scope"

static char yama_scope(void)
{
    char scope[8];
    return as_whole_text(YAMA, scope, sizeof scope) > 0 ? scope[0] : '0';
}

static int refuse_traced(pid_t pid, pid_t tracer, struct as_error *err)
{
    char path[64], name[32];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)tracer);
    as_whole_text(path, name, sizeof name);
    name[strcspn(name, "\n")] = 0;
    return as_error_set(err, AS_ERR_PERMISSION,
                        "process %d: process %d (%s) traces it, and only one tracer is possible; "
                        "end that tracer first",
                        (int)pid, (int)tracer, name[0] ? name : "?");
}

static int refuse_ptrace(pid_t pid, int why, struct as_error *err)
{
    const pid_t tracer = (pid_t)as_inject_status(pid, "\nTracerPid:", 10);
    if (tracer)
        return refuse_traced(pid, tracer, err);
    if (why == ESRCH)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "process %d: no such process; use the number of a running "
                            "process",
                            (int)pid);
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (geteuid() != 0 && stat(path, &status) == 0 && status.st_uid != geteuid())
        return as_error_set(err, AS_ERR_PERMISSION,
                            "process %d: it belongs to user %u, or has additional privileges; run "
                            "assay as root (sudo)",
                            (int)pid, (unsigned)status.st_uid);
    const char scope = yama_scope();
    if (scope > '0')
        return as_error_set(err, AS_ERR_PERMISSION,
                            "process %d: " YAMA " is %c, which lets %s be entered; run as root "
                            "(sudo)%s",
                            (int)pid, scope,
                            scope == '1'   ? "no program of others than its parent"
                            : scope == '2' ? "none but root's"
                                           : "no program at all",
                            scope < '3' ? ", or write 0 there" : ", after a new start with less");
    return as_error_set(
        err, AS_ERR_PERMISSION,
        "process %d: ptrace(2) is refused: %s; run as root (sudo), or allow SYS_PTRACE and ptrace "
        "in the seccomp filter of the container",
        (int)pid, strerror(why));
}

static int refuse_confined(pid_t pid, pid_t tid, struct as_error *err)
{
    return as_error_set(err, AS_ERR_PERMISSION,
                        "process %d: thread %d has a seccomp filter that may kill it for system "
                        "calls of the agent; use assay profile --pid %d",
                        (int)pid, (int)tid, (int)pid);
}

int as_attach_refuse(pid_t pid, const struct as_attach_state *state, struct as_error *err)
{
    const int who = state->who;
    switch ((enum as_attach_refusal)state->refusal) {
    case AS_ATTACH_DONE:
        return 0;
    case AS_ATTACH_FORBIDDEN:
    case AS_ATTACH_TRACED:
        return refuse_ptrace(pid, state->error, err);
    case AS_ATTACH_GONE:
        return refuse_ptrace(pid, ESRCH, err);
    case AS_ATTACH_HALTED:
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "process %d: it is stopped by a signal; run kill -CONT %d first",
                            (int)pid, (int)pid);
    case AS_ATTACH_MANY:
        return as_error_set(err, AS_ERR_LIMIT,
                            "process %d: it has more than %u threads, the limit for stopping them "
                            "together; run it with fewer",
                            (int)pid, AS_STOPPED_MAX);
    case AS_ATTACH_DEAF:
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "process %d: thread %d does not stop: it waits in the kernel for a "
                            "device or a vfork child; retry later",
                            (int)pid, who);
    case AS_ATTACH_CONFINED:
        return refuse_confined(pid, who, err);
    case AS_ATTACH_SEGMENT:
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "process %d: thread %d uses the register gs, which the agent needs; "
                            "use assay profile --pid %d",
                            (int)pid, who, (int)pid);
    case AS_ATTACH_NARROW:
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "process %d: thread %d runs 32-bit code; use a 64-bit program",
                            (int)pid, who);
    case AS_ATTACH_NO_CALL:
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "process %d: no system call instruction was found in its code; run "
                            "the program with assay",
                            (int)pid);
    case AS_ATTACH_NO_MEMORY:
        return as_error_set(err, AS_ERR_LIMIT,
                            "process %d: it has no memory for the agent, or must not execute new "
                            "code; raise its limit (ulimit -v), or run the program with assay",
                            (int)pid);
    case AS_ATTACH_NO_FILES:
        break;
    }
    return as_error_set(err, AS_ERR_IO,
                        "process %d: it cannot create the files of the agent: %s; set TMPDIR to a "
                        "directory that it can write to, or raise its limit of open files",
                        (int)pid, strerror(state->error ? state->error : EACCES));
}

/* ---- Before ---------------------------------------------------------------------------------- */

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

static char state_of(pid_t pid)
{
    struct as_task task;
    return as_task_read((uint32_t)pid, &task) ? task.state : 'X';
}

static int refuse_ended(pid_t pid, struct as_error *err)
{
    return as_error_set(err, AS_ERR_NOT_FOUND,
                        "process %d: it has ended, or its first thread has; use the number of a "
                        "running process",
                        (int)pid);
}

/* What stands there for us stands there for it. */
static int check_directory(pid_t pid, const char *directory, struct as_error *err)
{
    char theirs[4352];
    snprintf(theirs, sizeof theirs, "/proc/%d/root%s", (int)pid, directory);
    if (same_file(theirs, directory))
        return 0;
    if (strchr("XZ", state_of(pid))) /* then nothing of it is to be seen there */
        return refuse_ended(pid, err);
    return as_error_set(err, AS_ERR_UNSUPPORTED,
                        "process %d: it runs in a container without the directory %s; set TMPDIR "
                        "to a shared directory, or run assay in the container",
                        (int)pid, directory);
}

static bool is_narrow(pid_t pid)
{
    char path[64];
    unsigned char head[EI_NIDENT] = "";
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool is = fd >= 0 && read(fd, head, sizeof head) == sizeof head &&
                    memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS32;
    if (fd >= 0)
        close(fd);
    return is;
}

/* A child that seizes it and ends leaves no trace there. 0 or errno. */
static int try_ptrace(pid_t pid)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0 ? errno : 0);
    if (child < 0)
        return 0; /* what comes next will say why */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

static int check_state(pid_t pid, struct as_error *err)
{
    struct as_attach_state found = {.refusal = AS_ATTACH_DONE, .who = pid};
    const char state = state_of(pid);
    if (state == 'X')
        return refuse_ptrace(pid, ESRCH, err);
    if (state == 'Z')
        return refuse_ended(pid, err);
    found.error = try_ptrace(pid);
    if (found.error)
        found.refusal = AS_ATTACH_FORBIDDEN;
    else if (state == 'T')
        found.refusal = AS_ATTACH_HALTED;
    else if (is_narrow(pid))
        found.refusal = AS_ATTACH_NARROW;
    return as_attach_refuse(pid, &found, err);
}

int as_injector_attach_check(pid_t pid, const char *directory, struct as_error *err)
{
    char theirs[64];
    const pid_t tracer = (pid_t)as_inject_status(pid, "\nTracerPid:", 10);
    snprintf(theirs, sizeof theirs, "/proc/%d/ns/pid", (int)pid);
    if (tracer)
        return refuse_traced(pid, tracer, err);
    if (access(theirs, F_OK) == 0 && !same_file(theirs, "/proc/self/ns/pid"))
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "process %d: it is in another pid namespace (a container, unshare "
                            "--pid); run assay in that namespace",
                            (int)pid);
    if (as_inject_is_confined(pid))
        return refuse_confined(pid, pid, err);
    if (yama_scope() == '3')
        return refuse_ptrace(pid, EPERM, err);
    AS_TRY(check_state(pid, err));
    return directory ? check_directory(pid, directory, err) : 0;
}

/* ---- After ----------------------------------------------------------------------------------- */

const char *as_injector_rest(const struct as_injector *injector, char *text, size_t n)
{
    const struct as_attach_state *state = injector->state;
    if (!state || state->end == AS_ATTACH_CLEAN || state->end == AS_ATTACH_LOST)
        return NULL;
    if (state->end == AS_ATTACH_INSIDE && state->inside)
        snprintf(
            text, n,
            "%u threads still run the clone of a loop; the code of the process is restored, and "
            "the memory of the clones stays until it ends",
            (unsigned)state->inside);
    else if (state->end == AS_ATTACH_INSIDE)
        snprintf(text, n,
                 "the agent did not answer; the code of the process is restored, and the memory "
                 "of the agent stays until it ends");
    else if (state->end == AS_ATTACH_PATCHED)
        snprintf(text, n,
                 "thread %d could not be stopped, so its code was not restored; clones of loops "
                 "run until the process ends, and nothing is recorded",
                 (int)state->who);
    else
        snprintf(text, n,
                 "the observing process was killed; clones of loops run until the program ends, "
                 "and nothing is recorded");
    return text;
}
