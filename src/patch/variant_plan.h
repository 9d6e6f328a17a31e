/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of variants, what the plan maker, the agent and the reader share: kinds, the words of the thread
 * that their code uses at gs:offset, and the record of one that ran. With mode VARY some instances
 * of a loop run several times: once to note what they write, once as a variant, whose effects are
 * taken back, and then as the program has them.
 */
#ifndef AS_PATCH_VARIANT_PLAN_H
#define AS_PATCH_VARIANT_PLAN_H

#include <stddef.h>
#include <stdint.h>

#define AS_VARIANT_PREFIX  "varied." /* varied.PID.TID.TIME: one file a thread */
#define AS_VARIANT_MAGIC   0x4f59524156415353u
#define AS_VARIANT_RECORDS 65536u

enum as_variant_kind {
    AS_VARIANT_ORIG, /* as the program runs it, its results stay */
    AS_VARIANT_REC,
    AS_VARIANT_REF,
    AS_VARIANT_FP,
    AS_VARIANT_LS,
    AS_VARIANT_DL1,
    AS_VARIANT_FES,
    AS_VARIANT_NODIV,
    AS_VARIANT_NORED,
    AS_VARIANT_AGAIN, /* REF, over data that it has just gone through */
    AS_VARIANT_DL1_LS,
    AS_VARIANT_DL1_NODIV,
    AS_VARIANT_DL1_NORED,
    AS_VARIANT_PF4, /* so many lines ahead */
    AS_VARIANT_PF16,
    AS_VARIANT_PF64,
    AS_VARIANT_KINDS
};
/* A wish (as_patch_wish): one thing changed; and all, with several at once and prefetches. */
#define AS_VARIANTS_USUAL ((2u << AS_VARIANT_AGAIN) - 1)
#define AS_VARIANTS_ALL   ((1u << AS_VARIANT_KINDS) - 1)

enum as_variant_bit {
    AS_VARIANT_WRITES = 1 << 0,  /* what it writes is put back */
    AS_VARIANT_DECIDES = 1 << 1, /* its branches depend on memory, which it reads */
    AS_VARIANT_CHAINS = 1 << 2,  /* addresses depend on loads, which it does without */
    AS_VARIANT_BOUNDED = 1 << 3, /* REC: ends by itself, and no branch of others waits for memory */
    AS_VARIANT_READS = 1 << 4,   /* REC: notes loads, too */
    AS_VARIANT_SPILLS = 1 << 5,  /* counters stand on the stack, and stay there */
    AS_VARIANT_NESTS = 1 << 6    /* loops are in it, which are varied with it */
};

enum { AS_VARIANT_SLOTS = 32, AS_VARIANT_SLOT_B = 256 };

/* What variants find at gs:offset while they run. */
struct as_variant_local {
    uint64_t saved[3]; /* REC: registers */
    uint64_t trips;    /* REC: runs of the header */
    uint64_t log;      /* REC: where the next note goes */
    uint64_t t0, t1;   /* time stamps */
    uint64_t target;   /* where it begins */
    uint64_t stack;    /* of the agent */
    uint64_t general[16];
    uint64_t flags;
    uint32_t mxcsr, unused;
    uint64_t busy;                                  /* the thread is at it */
    uint64_t result;                                /* 1: the clone that is measured runs next */
    uint8_t value[64] __attribute__((aligned(64))); /* a number like any */
    uint8_t slot[AS_VARIANT_SLOTS][AS_VARIANT_SLOT_B] __attribute__((aligned(64)));
    uint8_t stored[AS_VARIANT_SLOTS][AS_VARIANT_SLOT_B]; /* what is loaded stays what it was */
    uint64_t left[16]; /* registers where a variant ended; not rax, rdx, rsp */
    uint64_t mask;     /* signals that the program blocks */
};

enum { AS_VARIANT_FRAME_MOST = 16, AS_VARIANT_FRAME_B = 16 };

/* A note of REC: an address, and in the bits above what stands there. */
#define AS_VARIANT_NOTE_BITS 48
enum {
    AS_VARIANT_NOTE_LOADS = 1 << 15, /* it is read; below: bytes */
    AS_VARIANT_NOTE_SLOT = 1 << 14   /* it is stored by REC, too: a place that it counts in */
};

enum as_variant_flag {
    AS_VARIANT_FAULTED = 1 << 0,  /* ended by a fault */
    AS_VARIANT_ENDLESS = 1 << 1,  /* ended by its timer */
    AS_VARIANT_SWITCHED = 1 << 2, /* the thread left the processor, or the kernel gave it a page */
    AS_VARIANT_HELD = 1 << 3,     /* what it writes may be what it reads addresses from: not run */
    AS_VARIANT_WIDE = 1 << 4,     /* it writes too much: not run */
    AS_VARIANT_SLICED = 1 << 5    /* so many iterations of an instance, not all of it */
};
enum {
    AS_VARIANT_TOGETHER = 8
}; /* above this bit: threads that ran it at once; 0: not asked for */

struct as_variant_record {
    uint64_t t0, ticks;
    uint64_t trips;     /* of the instance */
    uint64_t written_b; /* that were put back */
    uint32_t region;
    uint16_t kind, flags;
};

struct as_variant_file {
    uint64_t magic; /* written last */
    uint32_t version, pid, tid, unused;
    uint64_t records, lost; /* lost: there was no room */
    uint64_t empty_ticks;   /* of a variant that does nothing */
    uint64_t bare_ticks;    /* so, of ORIG */
    uint64_t spent_ns;      /* that the thread ran for variants and what they need */
    struct as_variant_record record[AS_VARIANT_RECORDS];
};

_Static_assert(sizeof(struct as_variant_record) == 40, "layout of records");
/* Assembly says so, too (agent/patcher/variant_enter.c). */
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
