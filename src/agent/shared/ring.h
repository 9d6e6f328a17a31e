/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sampler (inside the observed program) and its reader share: its part of the control
 * file, and one ring file for each process and execution, in one directory
 * (doc/internals/agent.md). Neither trusts the other's numbers. Many threads write a ring without
 * locks, one process reads.
 */
#ifndef AS_AGENT_RING_H
#define AS_AGENT_RING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/shared/control.h"

#define AS_AGENT_PREFIX "ring." /* ring.PID.TIME */
/* Of a ring: that samples leave free, so that maps and names find room. */
#define AS_AGENT_SPARE_B (32u << 10)
#define AS_AGENT_LEAST_B (256u << 10) /* a ring under a limit of the size of files */
#define AS_AGENT_REGS_N  17u
#define AS_AGENT_CHAIN_N 127u

enum as_agent_stacks { AS_AGENT_OFF, AS_AGENT_FRAME, AS_AGENT_COPY };

enum as_agent_python_wanted {
    AS_AGENT_PYTHON_OFF,
    AS_AGENT_PYTHON_ALSO,
    AS_AGENT_PYTHON_ALONE /* timers only in interpreters of a version that is read */
};

/* The sampler's part of the control file. */
struct as_agent_sampling {
    uint32_t stacks;           /* as_agent_stacks */
    uint32_t period_ns;        /* of CPU time */
    uint32_t stack_b;          /* at most, a sample */
    uint32_t ring_least_b;     /* of a process; a power of two */
    uint32_t ring_most_b;      /* so too */
    uint32_t ring_processor_b; /* for each processor that the process may use */
    _Atomic uint32_t enabled;  /* 0: timers run, samples are not kept */
    uint32_t python;           /* as_agent_python_wanted */
};

struct as_agent_ring {
    _Atomic uint64_t magic; /* written last: all else is there */
    uint32_t version;
    uint32_t pid, parent_pid, parent_tid;
    uint32_t forked; /* by fork without an execution; else a program began */
    uint64_t begun_ns, data_b;
    char name[AS_AGENT_NAME_B];
    _Alignas(64) _Atomic uint64_t head; /* bytes reserved, ever */
    _Alignas(64) _Atomic uint64_t tail; /* bytes read and zeroed, ever */
    _Alignas(64) _Atomic uint64_t lost; /* samples without room */
    _Atomic uint64_t threads_missed;
    _Atomic uint32_t missed_errno;
    _Atomic uint32_t exit_code; /* that the program gave, and 1; 0: none */
};

enum as_agent_kind {
    AS_AGENT_SAMPLE = 1,
    AS_AGENT_MAP,    /* a line of /proc/self/maps */
    AS_AGENT_LOADED, /* something was loaded: maps are to be read */
    AS_AGENT_THREAD, /* began */
    AS_AGENT_NAME,   /* a thread has a new name */
    AS_AGENT_EXIT,   /* a thread ends */
    AS_AGENT_END,    /* the process ends in an orderly way */
    AS_AGENT_CHILD,  /* was waited for: its end is known */
    AS_AGENT_CODE,   /* a function of Python, before or soon after its first sample */
    AS_AGENT_PYTHON  /* an interpreter of Python is in the process */
};

/* Every record; the next is `size_b` behind it. Sizes are multiples of 8. */
struct as_agent_record {
    _Atomic uint32_t size_b; /* written last; 0: not there yet */
    uint32_t kind;           /* as_agent_kind */
    uint32_t tid, cpu;
    uint64_t time_ns; /* CLOCK_MONOTONIC */
};

/* Then `regs_n` registers by DWARF number, `chain_n` addresses, `stack_b` bytes of stack,
 * `python_n` frames of Python. */
struct as_agent_sample {
    struct as_agent_record head;
    uint64_t ip, period_ns;
    uint64_t stack_at;
    uint32_t regs_n, chain_n, stack_b, python_n;
};

/* A frame of Python, innermost first; or, if `code` is 0, an address in the frame of the machine's
 * stack that runs those that follow. */
struct as_agent_python_frame {
    uint64_t code;  /* as_agent_code_record.code */
    uint64_t where; /* bytes from the first instruction, AS_AGENT_PYTHON_*; or the address */
};
#define AS_AGENT_PYTHON_BYTES  0xffffffffu         /* the distance; all ones: not begun yet */
#define AS_AGENT_PYTHON_CALLS  (UINT64_C(1) << 32) /* the instruction is a call */
#define AS_AGENT_PYTHON_MOST_N 768u

/* The name, place and table of lines of a function: then texts and table, one behind the other. A
 * long table is cut. */
struct as_agent_code_record {
    struct as_agent_record head;
    uint64_t code; /* a hash of the rest */
    uint32_t first_line;
    uint32_t file_b, name_b, table_b;
    uint8_t file_width, name_width; /* bytes of a character of the text: 1, 2 or 4 */
    uint8_t bytes[];
};
#define AS_AGENT_TEXT_MOST_B  4096u
#define AS_AGENT_TABLE_MOST_B (64u << 10)

enum as_agent_python_state {
    AS_AGENT_PYTHON_FOUND = 1, /* of a version that is read */
    AS_AGENT_PYTHON_READ,      /* frames are read from here on */
    AS_AGENT_PYTHON_OTHER,     /* its version is another one */
    AS_AGENT_PYTHON_STRANGE    /* its structures are not those of the version */
};

struct as_agent_python_record {
    struct as_agent_record head;
    uint32_t state, unused;
    char version[AS_AGENT_NAME_B]; /* with a zero */
};

struct as_agent_thread_record {
    struct as_agent_record head;
    uint32_t parent_tid, unused;
    uint64_t cpu_ns; /* EXIT: how long it ran */
    char name[AS_AGENT_NAME_B];
};

struct as_agent_child_record {
    struct as_agent_record head;
    uint32_t pid;
    int32_t status; /* as wait(2) has it */
};

/* Which file it is: by the build-id in memory, else by what stands at its path, if that has the
 * inode that is mapped. */
struct as_agent_map_record {
    struct as_agent_record head;
    uint64_t file_b; /* its size and time of change; both 0: not known */
    int64_t mtime_ns;
    uint8_t build_id[20];
    uint8_t build_id_b; /* 0: there is none */
    char line[];        /* with a zero */
};

/* Writer and reader are two builds that meet in memory: another layout is another AS_AGENT_VERSION.
 */
_Static_assert(sizeof(struct as_agent_record) == 24, "layout of rings");
_Static_assert(sizeof(struct as_agent_sample) == 64, "layout of rings");
_Static_assert(sizeof(struct as_agent_thread_record) == 56, "layout of rings");
_Static_assert(sizeof(struct as_agent_child_record) == 32, "layout of rings");
_Static_assert(offsetof(struct as_agent_map_record, line) == 61, "layout of rings");
_Static_assert(offsetof(struct as_agent_ring, head) == 64 && sizeof(struct as_agent_ring) == 256,
               "writers, the reader and losses each have a cache line");
_Static_assert(sizeof(struct as_agent_python_frame) == 16, "layout of rings");
_Static_assert(offsetof(struct as_agent_code_record, bytes) == 50, "layout of rings");
_Static_assert(sizeof(struct as_agent_python_record) == 48, "layout of rings");
_Static_assert(sizeof(struct as_agent_sampling) == 32 &&
                   sizeof(struct as_agent_sampling) <= AS_AGENT_PART_B,
               "layout of the control page");

#endif
