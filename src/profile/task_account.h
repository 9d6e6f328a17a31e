/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel has counted of the processes of a run, whether or not they are sampled: looked up
 * in /proc now and then. Against it the samples are held (trust.c): what no sample saw is said.
 */
#ifndef AS_PROFILE_TASK_ACCOUNT_H
#define AS_PROFILE_TASK_ACCOUNT_H

#include <assay/launch.h>
#include <assay/sample.h>

#include "base/vec.h"
#include "profile/pages.h"

struct as_ledger_process {
    uint32_t pid;
    uint64_t start; /* as in as_task */
    uint64_t cpu_ns;
    bool lives; /* at the last look */
    bool asked; /* why it may not be sampled */
    char name[32];
    char why[320]; /* "" when nothing speaks against it */
};

struct as_ledger {
    uint32_t pid;  /* of the process that was started; 0: nothing is looked up */
    bool is_timed; /* samples come from timers inside the program */
    int64_t due_ns, gap_ns;
    uint64_t stolen_ns;            /* by the host of this virtual machine, when the run began */
    uint64_t start;                /* of `pid`: nothing older is looked at */
    uint64_t gone_ns;              /* of processes that are not worth to be kept */
    struct as_process_pages pages; /* of all processes, when they had most memory */
    AS_VEC(struct as_ledger_process) process;
};

/* `pid` was let go just now. */
void as_ledger_begin(struct as_ledger *ledger, pid_t pid, bool is_timed, int64_t now_ns);
/* Looks when it is time to: half a hundredth of the time at most goes into it. Out of memory a
 * process is passed over. */
void as_ledger_look(struct as_ledger *ledger, int64_t now_ns);
/* Writes the account as facts on the recording (doc/internals/sample.md). Errors: those of the
 * recorder. */
int as_ledger_write(struct as_ledger *ledger, const struct assay_launch_outcome *outcome,
                    struct assay_recorder *recorder, struct assay_error *err);
void as_ledger_end(struct as_ledger *ledger);

#endif
