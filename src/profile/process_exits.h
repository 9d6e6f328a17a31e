/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exit status of processes that are not our children, such as the ranks of a launcher. Only their
 * parent can wait for them. A pidfd gives the status to other processes (PIDFD_GET_INFO with
 * PIDFD_INFO_EXIT, Linux 6.15). /proc/PID/stat has it until the parent waits (proc(5)).
 */
#ifndef AS_PROFILE_PROCESS_EXITS_H
#define AS_PROFILE_PROCESS_EXITS_H

#include "base/vec.h"
#include "sample/sample.h"

struct as_ends_process {
    uint32_t pid;
    int fd;
    uint64_t end_ns; /* 0: no end of the process is known */
};

struct as_ends {
    bool is_refused; /* the kernel does not give the status of a pidfd */
    AS_VEC(struct as_ends_process) process;
};

/* Handles a record of the start or the end of a process. Errors: those of the recorder, NOMEM. */
int as_ends_on_record(struct as_ends *ends, const struct as_sample_record *record,
                      struct as_recorder *recorder, struct as_error *err);
/* Records the exit status of processes that have ended. Errors: those of the recorder. */
int as_ends_look(struct as_ends *ends, struct as_recorder *recorder, struct as_error *err);
void as_ends_end(struct as_ends *ends);

#endif
