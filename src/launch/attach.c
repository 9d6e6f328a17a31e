/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running process: whether it can be observed, and when it ends. It is observed through /proc and
 * a pidfd, and it is not modified. Source: proc(5), pidfd_open(2) (Linux 5.3; on older kernels
 * /proc is polled).
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io_full.h"
#include "base/task.h"
#include "launch/internal.h"
#include "object/executable.h"

/* Facts from /proc/PID/stat and status. */
struct process {
    struct as_task task;
    pid_t group; /* thread group id */
    uid_t user;
};

ssize_t as_process_text(pid_t pid, const char *name, char *text, size_t n)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return as_whole_text(path, text, n);
}

static uint64_t status_number(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static bool read_process(pid_t pid, struct process *out)
{
    char text[2048];
    memset(out, 0, sizeof *out);
    if (!as_task_read((uint32_t)pid, &out->task) ||
        as_process_text(pid, "status", text, sizeof text) <= 0)
        return false;
    out->group = (pid_t)status_number(text, "\nTgid:");
    out->user = (uid_t)status_number(text, "\nUid:");
    return true;
}

static int refuse_access(pid_t pid, const struct process *process, struct as_error *err)
{
    const struct passwd *owner = getpwuid(process->user);
    if (process->user != geteuid())
        return as_error_set(err, AS_ERR_PERMISSION,
                            "process %d: belongs to user %s (%u), not to you; run as that user or "
                            "as root (sudo)",
                            (int)pid, owner ? owner->pw_name : "?", (unsigned)process->user);
    if (geteuid() == 0)
        return as_error_set(err, AS_ERR_PERMISSION,
                            "process %d: it has privileges that root does not have here (CapPrm "
                            "in /proc/%d/status); run assay outside the container",
                            (int)pid, (int)pid);
    return as_error_set(err, AS_ERR_PERMISSION,
                        "process %d: it is protected (it has or had privileges, or is not "
                        "dumpable); run assay as root (sudo)",
                        (int)pid);
}

/* Checks that the program is of a kind that can be analysed. */
static int check_program(pid_t pid, const struct process *process, struct as_error *err)
{
    char path[64], target[4096];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    const ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return errno == EACCES || errno == EPERM
                   ? refuse_access(pid, process, err)
                   : as_error_set(err, AS_ERR_NOT_FOUND,
                                  "process %d: no such process: it has just ended; use "
                                  "the number of a running process",
                                  (int)pid);
    target[n] = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0; /* executable but unreadable: its code has no names, but its time is measured */
    struct as_executable ignored;
    const int rc = as_executable_read(target, fd, &ignored, err);
    close(fd);
    return rc;
}

static int check(pid_t pid, struct process *process, struct as_error *err)
{
    if (pid <= 0)
        return as_error_set(err, AS_ERR_USAGE,
                            "process %d: invalid process number; use one of ps -e", (int)pid);
    if (pid == getpid())
        return as_error_set(err, AS_ERR_USAGE,
                            "process %d: it is assay itself; use the process of another program",
                            (int)pid);
    if (!read_process(pid, process))
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "process %d: no such process on this machine or in this "
                            "container; use one of ps -e",
                            (int)pid);
    if (process->group != pid)
        return as_error_set(err, AS_ERR_USAGE,
                            "process %d: it is a thread of process %d; use that number", (int)pid,
                            (int)process->group);
    if (process->task.state == 'Z' || process->task.state == 'X')
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "process %d: it has ended (a zombie); use the number of a running "
                            "process",
                            (int)pid);
    if (process->task.kernel)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "process %d: it is a kernel thread; use the process of a program",
                            (int)pid);
    return check_program(pid, process, err);
}

bool as_attached_ended(const struct as_launch *launch)
{
    struct as_task now = {0};
    return !as_task_read((uint32_t)launch->pid, &now) || now.start != launch->attached_start ||
           now.state == 'Z' || now.state == 'X';
}

int as_launch_attach(pid_t pid, struct as_launch **out, struct as_error *err)
{
    struct process process = {0};
    char name[64];
    *out = NULL;
    AS_TRY(check(pid, &process, err));
    snprintf(name, sizeof name, "process %d", (int)pid);
    int rc = as_launch_new(name, out, err);
    struct as_launch *l = *out;
    if (rc == 0) {
        l->attached = l->let_go = true;
        l->pid = pid;
        l->attached_start = process.task.start;
        l->outcome.start_ns = as_monotonic_ns();
        l->end = (int)syscall(SYS_pidfd_open, pid, 0);
        if (l->end >= 0)
            rc = as_launch_add_fd(l, l->end, err);
    }
    if (rc < 0)
        as_launch_close(out);
    return rc;
}
