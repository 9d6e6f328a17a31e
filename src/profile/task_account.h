/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time that the kernel counts for all processes of a run, sampled or not. It is read from /proc
 * repeatedly. missing_time.c compares it with the samples and flags missing time.
 */
#ifndef AS_PROFILE_TASK_ACCOUNT_H
#define AS_PROFILE_TASK_ACCOUNT_H

#include "base/vec.h"
#include "launch/launch.h"
#include "profile/pages.h"
#include "sample/sample.h"

struct as_ledger_process {
    uint32_t pid;
    uint64_t start; /* start time, as in as_task */
    uint64_t cpu_ns;
    bool lives; /* it existed at the last reading */
    bool asked; /* `why` is set */
    char name[32];
    char why[320]; /* reason why it may not be sampled; "" for none */
};

struct as_ledger {
    uint32_t pid;                  /* of the started process; 0: nothing is read */
    bool is_timed;                 /* samples come from timers inside the program */
    int64_t due_ns, gap_ns;        /* time of the next reading; time between two */
    uint64_t stolen_ns;            /* steal time of this virtual machine when the run began */
    uint64_t start;                /* start time of `pid`; older processes are ignored */
    uint64_t gone_ns;              /* CPU time of ended processes that are no longer listed */
    struct as_process_pages pages; /* of all processes, at the time with most memory */
    AS_VEC(struct as_ledger_process) process;
};

/* Begins the account when the command `pid` starts. */
void as_ledger_begin(struct as_ledger *ledger, pid_t pid, bool is_timed, int64_t now_ns);
/* Reads /proc when the next reading is due. Readings use at most 0.5 % of a CPU. If memory is
 * exhausted, a process is left out. */
void as_ledger_look(struct as_ledger *ledger, int64_t now_ns);
/* Writes the account as facts on the recording (doc/internals/sample.md). Errors: those of the
 * recorder. */
int as_ledger_write(struct as_ledger *ledger, const struct as_launch_outcome *outcome,
                    struct as_recorder *recorder, struct as_error *err);
void as_ledger_end(struct as_ledger *ledger);

#endif
