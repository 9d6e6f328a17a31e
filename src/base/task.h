/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads facts about a process from /proc/PID/stat (proc(5)): state, parent and running time. Reads
 * facts about a thread from schedstat (Documentation/scheduler/sched-stats.rst).
 */
#ifndef AS_BASE_TASK_H
#define AS_BASE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_task {
    char name[32];
    char state; /* 'Z' and 'X': the process has ended */
    bool kernel;
    uint32_t parent, thread_n;
    uint64_t start;  /* clock ticks since boot; unique together with the process number */
    uint64_t cpu_ns; /* CPU time of all threads, also ended ones; resolution 10 ms */
    int end;         /* status of an ended process as of wait(2); 0 also if we may not read it */
};

/* Reads /proc/PID/stat. Returns false if the process has ended or the file cannot be read. */
bool as_task_read(uint32_t pid, struct as_task *out);
/* Parses the text of /proc/PID/stat. Returns false if the text is invalid. */
bool as_task_parse(const char *text, struct as_task *out);

/* Account of a thread by the kernel's scheduler; -1 = unknown. */
struct as_task_times {
    int64_t ran_ns, ready_ns; /* CPU time with switches to the thread; ready without a CPU */
};

/* Reads a schedstat file. Both times are -1 if it is missing or the kernel does not count. */
struct as_task_times as_task_times_read(const char *path);
/* Returns the time in ns that a thread was ready to run without a CPU. `path` is a schedstat file
 * ("/proc/PID/task/TID/schedstat"). Returns -1 if the file is missing or the kernel does not count.
 */
int64_t as_task_ready_ns(const char *path);

#endif
