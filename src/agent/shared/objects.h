/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent and its reader share one file for each process. The file has the call stacks of
 * allocations (sites), and a ring of events. Writers reserve a place in the ring by
 * compare-and-swap and store the time last. Without room an event is counted as lost. Neither side
 * trusts the other's numbers.
 */
#ifndef AS_AGENT_OBJECTS_H
#define AS_AGENT_OBJECTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/shared/control.h"

#define AS_OBJECTS_CLIENT    "objects"
#define AS_OBJECTS_LIBRARY   "libassay-objects.so"
#define AS_OBJECTS_PREFIX    "objects"           /* objects.PID.TIME */
#define AS_OBJECTS_MAGIC     0x535443454a424f41u /* "AOBJECTS" */
#define AS_OBJECTS_VERSION   1u
#define AS_OBJECTS_LEAST_B   (UINT64_C(64) << 10) /* smaller blocks have no events */
#define AS_OBJECTS_SITES_N   1024u
#define AS_OBJECTS_CALLERS_N 15u
#define AS_OBJECTS_EVENTS_N  32768u

/* Its part of the control file. */
struct as_objects_part {
    _Atomic uint32_t own_n; /* processes with an allocator of their own */
    uint32_t unused;
};

enum as_object_event_kind {
    AS_OBJECT_ALLOCATED = 1,
    AS_OBJECT_MAPPED,   /* by mmap */
    AS_OBJECT_RELEASED, /* the block that begins at `address` */
    AS_OBJECT_FORKED    /* process `address` begins with the blocks of this one */
};

struct as_object_event {
    _Atomic uint64_t time_ns; /* CLOCK_MONOTONIC; 0: not written yet */
    uint64_t address, size_b;
    uint32_t site; /* number + 1; 0: not known */
    uint32_t kind; /* as_object_event_kind */
};

/* Return addresses, the innermost first. */
struct as_object_site {
    _Atomic uint32_t state; /* 0 free, 1 being written, 2 there */
    uint32_t n;
    uint64_t caller[AS_OBJECTS_CALLERS_N];
};

struct as_objects_file {
    _Atomic uint64_t magic; /* written last */
    uint32_t version, pid;
    uint64_t begun_ns;
    _Atomic uint64_t lost;       /* events without room */
    _Atomic uint64_t sites_lost; /* events without room for their site */
    _Atomic uint64_t head;       /* places reserved, ever */
    _Atomic uint64_t tail;       /* places read, ever; the reader's */
    uint64_t unused;
    struct as_object_site site[AS_OBJECTS_SITES_N];
    struct as_object_event event[AS_OBJECTS_EVENTS_N];
};

_Static_assert(sizeof(struct as_object_event) == 32 && sizeof(struct as_object_site) == 128 &&
                   sizeof(struct as_objects_file) ==
                       64 + AS_OBJECTS_SITES_N * 128 + AS_OBJECTS_EVENTS_N * 32,
               "layout of files of objects");
_Static_assert(offsetof(struct as_objects_file, head) == 40, "layout of files of objects");
_Static_assert(offsetof(struct as_objects_file, site) == 64, "layout of files of objects");
_Static_assert(offsetof(struct as_object_event, site) == 24, "layout of files of objects");
_Static_assert(offsetof(struct as_object_site, caller) == 8, "layout of files of objects");
_Static_assert((AS_OBJECTS_EVENTS_N & (AS_OBJECTS_EVENTS_N - 1)) == 0,
               "a place is the low bits of a counter");
_Static_assert(sizeof(struct as_objects_part) <= AS_AGENT_PART_B, "fits in its part");

/* ---- In the program -------------------------------------------------------------------------- */

#define AS_OBJECTS_HOOKS_VERSION 1u

/* The wrappers of the allocator call these. They find them by `assay_objects_hooks`. */
struct as_objects_hooks {
    uint32_t version;
    /* False: nothing is recorded, or this thread is in a call already. Else `leave` must follow. */
    bool (*enter)(void);
    void (*leave)(void);
    int64_t (*now)(void); /* CLOCK_MONOTONIC */
    /* A block of `size_b` bytes at `address` exists from now on; the stack says its site. */
    void (*allocated)(const void *address, size_t size_b, bool is_mapped);
    /* The block at `address` is gone since `time_ns`. */
    void (*released)(const void *address, uint64_t time_ns);
    /* The program has an allocator of its own: its blocks are not seen. */
    void (*unseen)(void);
};
_Static_assert(sizeof(struct as_objects_hooks) == 56, "layout of version 1");
_Static_assert(offsetof(struct as_objects_hooks, unseen) == 48, "layout of version 1");

#endif
