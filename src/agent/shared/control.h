/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent (inside the observed program) and those who start it share before anything is
 * recorded: the directory of a run and its control file, a page of memory. Each client of the agent
 * has a part of it under its name; one without a part is not wanted (doc/internals/agent.md).
 */
#ifndef AS_AGENT_CONTROL_H
#define AS_AGENT_CONTROL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define AS_AGENT_DIRECTORY "ASSAY_AGENT" /* the environment variable */
#define AS_AGENT_LIBRARY   "libassay-agent.so"
#define AS_AGENT_CONTROL   "control"
#define AS_AGENT_PLAN      "plan"              /* the file of what to patch */
#define AS_AGENT_MAGIC     0x544e474159415353u /* "SSAYAGNT" */
#define AS_AGENT_VERSION   7u
#define AS_AGENT_PAGE_B    4096u
#define AS_AGENT_NAME_B    16u
#define AS_AGENT_PARTS_N   8u
#define AS_AGENT_PART_B    112u

/* Of a client; what `data` is, is between it and its reader. */
struct as_agent_part {
    char client[AS_AGENT_NAME_B]; /* "": free */
    _Alignas(8) uint8_t data[AS_AGENT_PART_B];
};

struct as_agent_control {
    uint64_t magic;
    uint32_t version;
    uint32_t only_pid;      /* observe this process and its first thread alone; 0: all */
    uint64_t pid_namespace; /* of the reader (inode); 0: not known */
    uint64_t program_dev;   /* with the next: the executable that is measured */
    uint64_t program_inode; /* 0: any */
    uint32_t locked;        /* the reader holds a lock (flock) on this file while it lives */
    _Atomic uint32_t wake;  /* a futex: counts reasons to read now */
    _Atomic uint32_t missed_errno;
    uint32_t unused;
    _Atomic uint64_t processes_missed;
    struct as_agent_part part[AS_AGENT_PARTS_N];
};

/* Writer and reader are two builds that meet in memory: another layout is another AS_AGENT_VERSION.
 */
_Static_assert(sizeof(struct as_agent_part) == 128 && sizeof(struct as_agent_control) == 1088,
               "layout of the control page");
_Static_assert(offsetof(struct as_agent_control, only_pid) == 12, "layout of the control page");
_Static_assert(offsetof(struct as_agent_control, wake) == 44, "the futex of the reader");
_Static_assert(offsetof(struct as_agent_control, part) == 64, "parts begin at a cache line");
_Static_assert(offsetof(struct as_agent_part, data) == AS_AGENT_NAME_B, "data follow the name");

#endif
