/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the bare agent and whoever brings it into a program share. It is the patcher without the C
 * library, for programs that nothing can be preloaded into, and processes that run already: its
 * image is copied into their memory, and threads that are held by ptrace(2) run its hooks, one at a
 * time (doc/internals/agent.md).
 */
#ifndef AS_AGENT_BARE_H
#define AS_AGENT_BARE_H

#include <stddef.h>
#include <stdint.h>

#define AS_BARE_LIBRARY "libassay-bare.so"
/* Before the entry of the image stands a `syscall` for the tracer; a hook ends with a trap. */
#define AS_BARE_SYSCALL_B 2u

/* In rdi when a thread goes on at the entry; rsi is the address of a struct as_bare_given. */
enum as_bare_hook {
    AS_BARE_BEGIN,  /* the program is about to begin: its first thread */
    AS_BARE_THREAD, /* in a new thread, before its first instruction */
    AS_BARE_FORKED, /* in the child of a fork */
    /* Into a process that runs already, all of whose threads stand still: */
    AS_BARE_ATTACH, /* clones are made; threads of the table get a file, and where %gs leads */
    AS_BARE_WRITE,  /* jumps are written where no thread stands in the way */
    AS_BARE_UNDO,   /* the code becomes what it was */
    AS_BARE_LEAVE   /* threads of the table that are out of the clones have ended for us */
};

/* A file that is mapped, as the loader would tell. */
struct as_bare_module {
    uint64_t bias, phdr, phnum;
    uint64_t name; /* address of its path */
};

/* A thread that stands still. */
struct as_bare_thread {
    uint32_t tid;
    uint32_t is_inside; /* WRITE, UNDO: in the way; LEAVE: in a clone, or in what clones call */
    /* Where it stands; and where it would begin again the system call that it waits in, or the
     * same. */
    uint64_t pc, again;
    uint64_t base;             /* of its %gs */
    uint64_t stack, stack_end; /* what of it is in use, at most */
    /* LEAVE answers, where it stands in a clone: where the program's code does what comes next;
     * AS_BARE_STEP: that may be known an instruction later; 0: not. */
    uint64_t out;
};
#define AS_BARE_STEP 1u

struct as_bare_given {
    uint64_t phdr, phnum, bias; /* of the program */
    uint64_t hwcap2;            /* AT_HWCAP2 */
    /* What AS_BARE_BEGIN answers: where %gs leads for threads that nobody counts (0: the agent is
     * not wanted here), and a number of such threads. */
    uint64_t nowhere, missed;
    uint64_t ignore[4]; /* what the kernel takes for "SIGTRAP is ignored" */
    /* Of a process that ran already: tables of the two structs above. */
    uint64_t module, modules, thread, threads;
    uint64_t image, image_end;
    uint64_t last;    /* WRITE: what cannot be written now is given up; LEAVE: none is waited for */
    uint64_t pending; /* WRITE, UNDO, LEAVE answer: regions, or threads, that wait */
    char directory[3952];
};
_Static_assert(sizeof(struct as_bare_given) <= 4096, "has a page");
/* The host writes these before the library is in the process, and reads them after it is gone. */
_Static_assert(sizeof(struct as_bare_module) == 32, "layout of a module");
_Static_assert(sizeof(struct as_bare_thread) == 56, "layout of a thread");
_Static_assert(offsetof(struct as_bare_thread, pc) == 8, "layout of a thread");
_Static_assert(offsetof(struct as_bare_thread, out) == 48, "layout of a thread");
_Static_assert(offsetof(struct as_bare_given, nowhere) == 32, "layout of what is given");
_Static_assert(offsetof(struct as_bare_given, module) == 80, "layout of what is given");
_Static_assert(offsetof(struct as_bare_given, pending) == 136, "layout of what is given");
_Static_assert(offsetof(struct as_bare_given, directory) == 144, "layout of what is given");

#endif
