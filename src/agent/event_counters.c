/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/event_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"

#define NUMBER_MIN 512 /* of descriptors, if the limit permits: the program's own lie below */

static const struct as_event_counter *wanted;
static unsigned wanted_n;
static uint32_t number_of_event[AS_EVENT_COUNTERS_N];
static _Atomic int names_begun; /* by one thread */
static _Atomic bool are_named;

bool as_event_counters_begin(void)
{
    char path[AS_AGENT_PAGE_B];
    struct stat status;
    void *at = MAP_FAILED;
    as_agent_path(AS_EVENT_COUNTERS_FILE, path);
    const int fd = as_agent_open(path, O_RDONLY);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
        at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        syscall(SYS_close, fd);
    wanted = at == MAP_FAILED ? NULL : at;
    wanted_n = wanted ? (unsigned)((size_t)status.st_size / sizeof *wanted) : 0;
    wanted_n = wanted_n < AS_EVENT_COUNTERS_N ? wanted_n : AS_EVENT_COUNTERS_N;
    return wanted_n > 0;
}

static long open_event(const struct as_event_counter *event, int leader, bool excludes_kernel)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = event->type,
                                   .config = event->config,
                                   .config1 = event->config1,
                                   .config2 = event->config2,
                                   .exclude_user = event->exclude_user != 0,
                                   .exclude_kernel = event->exclude_kernel || excludes_kernel,
                                   .exclude_hv = event->exclude_hv != 0,
                                   .read_format = PERF_FORMAT_GROUP |
                                                  PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING};
    return syscall(SYS_perf_event_open, &attr, 0, -1, leader, (unsigned long)PERF_FLAG_FD_CLOEXEC);
}

/* Returns a descriptor out of the program's way, or -1. */
static int move_up(int fd)
{
    struct rlimit limit = {0, 0};
    syscall(SYS_getrlimit, RLIMIT_NOFILE, &limit);
    const long number_min =
        limit.rlim_cur / 2 < NUMBER_MIN ? (long)(limit.rlim_cur / 2) : NUMBER_MIN;
    const long up = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, number_min);
    if (up < 0)
        return fd;
    syscall(SYS_close, fd);
    return (int)up;
}

static bool open_counters(struct as_event_counters *own)
{
    for (unsigned i = 0; i < wanted_n; i++) {
        const int leader = i ? own->fd[0] : -1;
        long fd = open_event(&wanted[i], leader, false);
        if (fd < 0 && (errno == EACCES || errno == EPERM))
            fd = open_event(&wanted[i], leader, true);
        if (fd < 0)
            return false;
        own->fd[own->n++] = move_up((int)fd);
    }
    return true;
}

void as_event_counters_open(struct as_event_counters *own,
                            uint32_t (*name)(uint32_t group, const char *text))
{
    const int saved = errno;
    *own = (struct as_event_counters){.is_tried = true};
    if (wanted_n && !open_counters(own))
        as_event_counters_close(own);
    own->is_tried = true;
    int none = 0;
    if (own->n && atomic_compare_exchange_strong(&names_begun, &none, 1)) {
        for (unsigned i = 0; i < wanted_n; i++)
            number_of_event[i] = name(AS_TRACE_OF_COUNTED, wanted[i].name);
        are_named = true;
    }
    errno = saved;
}

bool as_event_counters_put(struct as_event_counters *own, struct as_trace_writer *writer,
                           uint64_t tick)
{
    struct {
        uint64_t n, enabled, running, value[AS_EVENT_COUNTERS_N];
    } reading;
    const int saved = errno;
    const size_t whole_b = offsetof(__typeof__(reading), value) + own->n * sizeof *reading.value;
    if (!own->n || !are_named)
        return true;
    const long got = syscall(SYS_read, own->fd[0], &reading, sizeof reading);
    errno = saved;
    if (got < (long)whole_b || reading.n != own->n) { /* closed by the program */
        own->n = 0;
        return true;
    }
    if (reading.running < reading.enabled)
        return false;
    for (unsigned i = 0; i < own->n; i++) {
        if (own->is_known[i] && own->latest[i] == reading.value[i])
            continue;
        const uint64_t field[] = {number_of_event[i], as_trace_zigzag((int64_t)reading.value[i])};
        own->latest[i] = reading.value[i];
        own->is_known[i] = true;
        as_trace_emit(writer, AS_TRACE_COUNTER, tick, field, 2);
    }
    return true;
}

void as_event_counters_close(struct as_event_counters *own)
{
    const int saved = errno;
    for (unsigned i = 0; i < own->n; i++)
        syscall(SYS_close, own->fd[i]);
    *own = (struct as_event_counters){0};
    errno = saved;
}
