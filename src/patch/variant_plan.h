/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares the layouts of variants that the plan maker, the agent and the reader share. They are
 * the kinds, the thread's words that their code uses at gs:offset, and the record of a run. With
 * mode VARY some instances of a loop run several times: first to note the written addresses, then
 * as a variant with its effects undone, and finally as the program's code.
 */
#ifndef AS_PATCH_VARIANT_PLAN_H
#define AS_PATCH_VARIANT_PLAN_H

#include <stddef.h>
#include <stdint.h>

#define AS_VARIANT_PREFIX  "varied." /* varied.PID.TID.TIME: one file per thread */
#define AS_VARIANT_MAGIC   0x4f59524156415353u
#define AS_VARIANT_RECORDS 65536u

enum as_variant_kind {
    AS_VARIANT_ORIG, /* the program's code; its results remain */
    AS_VARIANT_REC,
    AS_VARIANT_REF,
    AS_VARIANT_FP,
    AS_VARIANT_LS,
    AS_VARIANT_DL1,
    AS_VARIANT_FES,
    AS_VARIANT_NODIV,
    AS_VARIANT_NORED,
    AS_VARIANT_AGAIN, /* REF, over data that it has just accessed */
    AS_VARIANT_DL1_LS,
    AS_VARIANT_DL1_NODIV,
    AS_VARIANT_DL1_NORED,
    AS_VARIANT_PF4, /* PFn: prefetches n cache lines ahead */
    AS_VARIANT_PF16,
    AS_VARIANT_PF64,
    AS_VARIANT_KINDS
};
/* Values of as_patch_wish.variants: one change each, and all kinds. */
#define AS_VARIANTS_USUAL ((2u << AS_VARIANT_AGAIN) - 1)
#define AS_VARIANTS_ALL   ((1u << AS_VARIANT_KINDS) - 1)

enum as_variant_bit {
    AS_VARIANT_WRITES = 1 << 0,  /* memory that it writes is restored */
    AS_VARIANT_DECIDES = 1 << 1, /* its branches depend on memory that it reads */
    AS_VARIANT_CHAINS = 1 << 2,  /* addresses depend on loads that the variant omits */
    /* REC: it ends by itself, and its branches wait for no shared memory. */
    AS_VARIANT_BOUNDED = 1 << 3,
    AS_VARIANT_READS = 1 << 4,  /* REC: notes loads too */
    AS_VARIANT_SPILLS = 1 << 5, /* memory counters exist, and remain */
    AS_VARIANT_NESTS = 1 << 6   /* it has inner loops, which vary with it */
};

enum { AS_VARIANT_SLOTS = 32, AS_VARIANT_SLOT_B = 256 };

/* Words that variants use at gs:offset while they run. */
struct as_variant_local {
    uint64_t saved[3]; /* REC: registers */
    uint64_t trips;    /* REC: runs of the header */
    uint64_t log;      /* REC: address of the next note */
    uint64_t t0, t1;   /* time stamps */
    uint64_t target;   /* address of its start */
    uint64_t stack;    /* stack pointer of the agent */
    uint64_t general[16];
    uint64_t flags;
    uint32_t mxcsr, unused;
    uint64_t busy;                                  /* 1 while the thread runs a variant */
    uint64_t result;                                /* 1: the measured clone runs next */
    uint8_t value[64] __attribute__((aligned(64))); /* any number */
    uint8_t slot[AS_VARIANT_SLOTS][AS_VARIANT_SLOT_B] __attribute__((aligned(64)));
    /* Apart from `slot`, so that loaded values do not change. */
    uint8_t stored[AS_VARIANT_SLOTS][AS_VARIANT_SLOT_B];
    uint64_t left[16]; /* registers at the end of a variant, without rax, rdx and rsp */
    uint64_t mask;     /* signals that the program blocks */
};

enum { AS_VARIANT_FRAME_MOST = 16, AS_VARIANT_FRAME_B = 16 };

/* A note of REC is an address; the bits above describe the access. */
#define AS_VARIANT_NOTE_BITS 48
enum {
    AS_VARIANT_NOTE_LOADS = 1 << 15, /* a load; the bits below are the bytes */
    AS_VARIANT_NOTE_SLOT = 1 << 14   /* REC stores to it too: a slot */
};

enum as_variant_flag {
    AS_VARIANT_FAULTED = 1 << 0,  /* a fault ended it */
    AS_VARIANT_ENDLESS = 1 << 1,  /* its timer ended it */
    AS_VARIANT_SWITCHED = 1 << 2, /* the thread left the CPU, or the kernel gave it a page */
    AS_VARIANT_HELD = 1 << 3,     /* it may write what it reads addresses from: not run */
    AS_VARIANT_WIDE = 1 << 4,     /* it writes too much: not run */
    AS_VARIANT_SLICED = 1 << 5    /* a slice of iterations of an instance */
};
enum {
    AS_VARIANT_TOGETHER = 8
}; /* bits from here on: number of threads that ran it at once; 0: not asked for */

struct as_variant_record {
    uint64_t t0, ticks;
    uint64_t trips;     /* iterations of the instance */
    uint64_t written_b; /* bytes that were restored */
    uint32_t region;
    uint16_t kind, flags;
};

struct as_variant_file {
    uint64_t magic; /* written last */
    uint32_t version, pid, tid, unused;
    uint64_t records, lost; /* lost: the table was full */
    uint64_t empty_ticks;   /* ticks of a variant that does nothing */
    uint64_t bare_ticks;    /* ticks of ORIG that does nothing */
    uint64_t spent_ns;      /* ns that the thread ran for variants and their preparation */
    struct as_variant_record record[AS_VARIANT_RECORDS];
};

_Static_assert(sizeof(struct as_variant_record) == 40, "layout of records");
/* Assembly relies on these offsets (agent/patcher/variant_enter.c). */
_Static_assert(offsetof(struct as_variant_local, t0) == 40, "layout of the thread");
_Static_assert(offsetof(struct as_variant_local, t1) == 48, "layout of the thread");
_Static_assert(offsetof(struct as_variant_local, target) == 56, "layout of the thread");
_Static_assert(offsetof(struct as_variant_local, stack) == 64, "layout of the thread");
_Static_assert(offsetof(struct as_variant_local, general) == 72, "layout of the thread");
_Static_assert(offsetof(struct as_variant_local, flags) == 200, "layout of the thread");
_Static_assert(offsetof(struct as_variant_local, mxcsr) == 208, "layout of the thread");
_Static_assert(offsetof(struct as_variant_local, busy) == 216, "layout of the thread");
_Static_assert(offsetof(struct as_variant_local, result) == 224, "layout of the thread");

#endif
