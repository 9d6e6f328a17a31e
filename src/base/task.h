/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel says of a process in /proc/PID/stat (proc(5)): whether it still runs, who started
 * it, and how long it ran; and of a thread in schedstat (Documentation/scheduler/sched-stats.rst).
 */
#ifndef AS_BASE_TASK_H
#define AS_BASE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_task {
    char name[32];
    char state; /* 'Z' and 'X': ended */
    bool kernel;
    uint32_t parent, thread_n;
    uint64_t start;  /* in ticks since boot: with the number it is one process for ever */
    uint64_t cpu_ns; /* of all its threads, ended ones too; to a hundredth of a second */
    int end;         /* as wait(2) has it, of one that ended; 0 also where it is hidden from us */
};

/* False: there is no such process, or it cannot be read. */
bool as_task_read(uint32_t pid, struct as_task *out);
/* The same of the text of such a file. */
bool as_task_parse(const char *text, struct as_task *out);

/* How long a thread was ready to run and had no processor, by a schedstat file (as in
 * "/proc/PID/task/TID/schedstat"); -1: there is none, or the kernel does not count. */
int64_t as_task_ready_ns(const char *path);

#endif
