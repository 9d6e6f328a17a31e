/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/tracer/event_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/kernel_call.h"

#define NUMBER_MIN 512 /* of descriptors, if the limit permits: the program's own lie below */

static const struct as_event_counter *wanted;
static unsigned wanted_n;
static uint32_t number_of_event[AS_EVENT_COUNTERS_N];
static _Atomic int names_begun; /* by one thread */
static _Atomic bool are_named;

static void close_fd(long fd)
{
    as_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

bool as_event_counters_begin(const char *path)
{
    const size_t mapped_b = AS_EVENT_COUNTERS_N * sizeof *wanted;
    const long fd = as_kernel_call(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
    if (fd < 0)
        return false;
    const long size_b = as_kernel_call(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0);
    const long at = as_kernel_call(SYS_mmap, 0, (long)mapped_b, PROT_READ, MAP_PRIVATE, fd, 0);
    close_fd(fd);
    if (size_b <= 0 || at < 0)
        return false;
    wanted = (const void *)at;
    wanted_n = (unsigned)((size_t)size_b / sizeof *wanted);
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
    return as_kernel_call(SYS_perf_event_open, (long)&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC, 0);
}

/* Returns a descriptor out of the program's way, or -1. */
static int move_up(int fd)
{
    struct rlimit limit = {0, 0};
    as_kernel_call(SYS_getrlimit, RLIMIT_NOFILE, (long)&limit, 0, 0, 0, 0);
    const long number_min =
        limit.rlim_cur / 2 < NUMBER_MIN ? (long)(limit.rlim_cur / 2) : NUMBER_MIN;
    const long up = as_kernel_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, number_min, 0, 0, 0);
    if (up < 0)
        return fd;
    close_fd(fd);
    return (int)up;
}

static bool open_counters(struct as_event_counters *own)
{
    for (unsigned i = 0; i < wanted_n; i++) {
        const int leader = i ? own->fd[0] : -1;
        long fd = open_event(&wanted[i], leader, false);
        if (fd == -EACCES || fd == -EPERM)
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
}

bool as_event_counters_put(struct as_event_counters *own, struct as_trace_writer *writer,
                           uint64_t tick, as_event_counter_emit *emit)
{
    struct {
        uint64_t n, enabled, running, value[AS_EVENT_COUNTERS_N];
    } reading = {0};
    const size_t whole_b = offsetof(__typeof__(reading), value) + own->n * sizeof *reading.value;
    if (!own->n || !are_named)
        return true;
    const long got = as_kernel_call(SYS_read, own->fd[0], (long)&reading, sizeof reading, 0, 0, 0);
    if (got < (long)whole_b || reading.n != own->n) { /* closed by the program */
        own->n = 0;
        return true;
    }
    if (reading.running < reading.enabled)
        return false;
    for (unsigned i = 0; i < own->n; i++) {
        if (own->is_known[i] && own->latest[i] == reading.value[i])
            continue;
        own->latest[i] = reading.value[i];
        own->is_known[i] = true;
        emit(writer, tick, number_of_event[i], reading.value[i]);
    }
    return true;
}

void as_event_counters_close(struct as_event_counters *own)
{
    for (unsigned i = 0; i < own->n; i++)
        close_fd(own->fd[i]);
    *own = (struct as_event_counters){0};
}
