/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the bare agent and whoever brings it into a program share. It is the patcher without the C
 * library, for programs that nothing can be preloaded into: its image is copied into their memory,
 * and threads that are held by ptrace(2) run its hooks, one at a time (doc/agent.md).
 */
#ifndef AS_AGENT_BARE_H
#define AS_AGENT_BARE_H

#include <stdint.h>

#define AS_BARE_LIBRARY "libassay-bare.so"
/* Before the entry of the image stands a `syscall` for the tracer; a hook ends with a trap. */
#define AS_BARE_SYSCALL_B 2u

/* In rdi when a thread goes on at the entry; rsi is the address of a struct as_bare_given. */
enum as_bare_hook {
    AS_BARE_BEGIN,  /* the program is about to begin: its first thread */
    AS_BARE_THREAD, /* in a new thread, before its first instruction */
    AS_BARE_FORKED  /* in the child of a fork */
};

struct as_bare_given {
    uint64_t phdr, phnum, bias; /* of the program */
    uint64_t hwcap2;            /* AT_HWCAP2 */
    /* What AS_BARE_BEGIN answers: where %gs leads for threads that nobody counts (0: the agent is
     * not wanted here), and a number of such threads. */
    uint64_t nowhere, missed;
    uint64_t ignore[4]; /* what the kernel takes for "SIGTRAP is ignored" */
    char directory[3968];
};
_Static_assert(sizeof(struct as_bare_given) <= 4096, "has a page");

#endif
