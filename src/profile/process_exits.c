/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records how processes end. The row of a process with an unknown end has neither code nor signal.
 */
#include "profile/process_exits.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/task.h"
#include "profile/record.h"

/* Max number of open pidfds. Further processes get none. */
#define HELD_MOST 1024u

/* Layout of linux/pidfd.h since Linux 6.15; older headers do not have it. */
struct info {
    uint64_t mask, cgroup;
    uint32_t pid, group, parent, user[8];
    int32_t end;
};
_Static_assert(sizeof(struct info) == 64, "the size is part of the request's number");
#define GET_INFO  _IOWR(0xFF, 11, struct info)
#define INFO_EXIT (1u << 3)

enum answer { KNOWN, NOT_YET, NEVER };

static enum answer query_exit_status(int fd, int *status)
{
    struct info info = {.mask = INFO_EXIT};
    if (ioctl(fd, GET_INFO, &info) < 0)
        return NEVER;
    *status = info.end;
    return info.mask & INFO_EXIT ? KNOWN : NOT_YET;
}

static struct as_ends_process *find_watched(struct as_ends *ends, uint32_t pid)
{
    as_vec_foreach (&ends->process, process)
        if (process->pid == pid && !process->end_ns)
            return process;
    return NULL;
}

static int begin_watching(struct as_ends *ends, uint32_t pid, struct as_error *err)
{
    int status;
    if (ends->is_refused || ends->process.n >= HELD_MOST || find_watched(ends, pid))
        return 0;
    struct as_ends_process made = {.pid = pid, .fd = (int)syscall(SYS_pidfd_open, pid, 0)};
    if (made.fd < 0) /* the process has ended, or no descriptor is free */
        return 0;
    if (query_exit_status(made.fd, &status) == NEVER && errno != ESRCH)
        ends->is_refused = true;
    if (!ends->is_refused && as_vec_push(&ends->process, made) == 0)
        return 0;
    close(made.fd);
    return ends->is_refused ? 0 : as_error_nomem(err, "the ends of processes");
}

int as_ends_on_record(struct as_ends *ends, const struct as_sample_record *record,
                      struct as_recorder *recorder, struct as_error *err)
{
    struct as_task task;
    if ((record->kind == AS_SAMPLE_FORK && record->pid != record->parent_pid) ||
        (record->kind == AS_SAMPLE_COMM && record->out))
        return begin_watching(ends, record->pid, err);
    if (record->kind != AS_SAMPLE_EXIT || record->pid != record->tid)
        return 0;
    struct as_ends_process *process = find_watched(ends, record->pid);
    if (process) {
        process->end_ns = record->time_ns;
        return 0;
    }
    /* The end reads as 0 if we have no permission to see it. */
    if (as_task_read(record->pid, &task) && task.state == 'Z' && task.end)
        return as_record_end(recorder, record->pid, record->time_ns, task.end, err);
    return 0;
}

int as_ends_look(struct as_ends *ends, struct as_recorder *recorder, struct as_error *err)
{
    size_t kept = 0;
    int rc = 0;
    as_vec_foreach (&ends->process, process) {
        int status = 0;
        const enum answer answer =
            process->end_ns && rc == 0 ? query_exit_status(process->fd, &status) : NOT_YET;
        if (answer == NOT_YET) {
            ends->process.at[kept++] = *process;
            continue;
        }
        if (answer == KNOWN)
            rc = as_record_end(recorder, process->pid, process->end_ns, status, err);
        close(process->fd);
    }
    ends->process.n = kept;
    return rc;
}

void as_ends_end(struct as_ends *ends)
{
    as_vec_foreach (&ends->process, process)
        close(process->fd);
    as_vec_fini(&ends->process);
}
