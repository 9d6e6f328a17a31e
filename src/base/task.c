/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads /proc/PID/stat and schedstat; see task.h. Uses system calls, because it runs often.
 */
#include "base/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io_full.h"

/* Flag of a task (PF_KTHREAD of the kernel's sched.h). */
#define KERNEL_THREAD 0x00200000u
#define FIELDS        52

static uint64_t tick_ns(void)
{
    const long hz = sysconf(_SC_CLK_TCK);
    return hz > 0 ? 1000000000u / (uint64_t)hz : 10000000u;
}

/* "PID (NAME) STATE PPID ...": the name may contain brackets, so the last bracket ends it. */
bool as_task_parse(const char *text, struct as_task *out)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    uint64_t field[FIELDS + 1] = {0};
    if (!open || !close || close < open || close[1] != ' ' || !close[2])
        return false;
    *out = (struct as_task){.state = close[2]};
    snprintf(out->name, sizeof out->name, "%.*s", (int)(close - open - 1), open + 1);
    const char *at = close + 3;
    for (int i = 4; i <= FIELDS && *at; i++) {
        char *end;
        field[i] = strtoull(at, &end, 10);
        at = end;
    }
    out->parent = (uint32_t)field[4];
    out->kernel = field[9] & KERNEL_THREAD;
    out->cpu_ns = (field[14] + field[15]) * tick_ns();
    out->thread_n = (uint32_t)field[20];
    out->start = field[22];
    out->end = (int)field[52];
    return true;
}

bool as_task_read(uint32_t pid, struct as_task *out)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/stat", pid);
    return as_whole_text(path, text, sizeof text) > 0 && as_task_parse(text, out);
}

/* The file has "RAN READY SLICES" in ns. */
struct as_task_times as_task_times_read(const char *path)
{
    struct as_task_times times = {-1, -1};
    char text[128], *end;
    if (as_whole_text(path, text, sizeof text) < 0)
        return times;
    const int64_t ran_ns = strtoll(text, &end, 10);
    if (*end == ' ')
        times = (struct as_task_times){ran_ns, strtoll(end, NULL, 10)};
    return times;
}

int64_t as_task_ready_ns(const char *path)
{
    return as_task_times_read(path).ready_ns;
}
