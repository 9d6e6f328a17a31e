/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of the kernel about a process in /proc/PID/stat (proc(5)): state, parent, and running time;
 * and about a thread in schedstat (Documentation/scheduler/sched-stats.rst).
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

/* Returns the time that a thread was ready to run without a CPU, from a schedstat file
 * ("/proc/PID/task/TID/schedstat"); -1: no file, or the kernel does not count. */
int64_t as_task_ready_ns(const char *path);

#endif
