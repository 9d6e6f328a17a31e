/* SPDX-License-Identifier: Apache-2.0 */
/* The other threads of this process, by /proc/self/task (proc(5)). System calls only. */
#ifndef AS_AGENT_TASKS_H
#define AS_AGENT_TASKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Calls `each` for every thread but the calling one. Returns the sum of what the calls return; the
 * first negative value, or -errno, ends it. One caller at a time.
 */
int as_agent_tasks(int (*each)(pid_t tid));

struct as_agent_task {
    char state; /* as in /proc/TID/status: R, S, D, Z and others; 0: the thread has ended */
    uint64_t pending, blocked; /* signals, bit n - 1 for signal n */
};

/* Returns 0, or -errno if the state cannot be read. One caller at a time. */
int as_agent_task_read(pid_t tid, struct as_agent_task *out);

#endif
