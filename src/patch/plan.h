/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares the layouts that the plan maker, the agent in the program and the reader of its results
 * share: the plan file, the file of each thread, the record of one loop instance
 * (doc/internals/patch.md). Layouts are fixed and little-endian. Addresses are those of the
 * module's file. Offsets count from the start of the file that contains them. Both sides check all
 * that they read.
 */
#ifndef AS_PATCH_PLAN_H
#define AS_PATCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AS_PATCH_PLAN    "plan"              /* in the directory of the agent */
#define AS_PATCH_PREFIX  "patch."            /* patch.PID.TID.TIME: one file per thread */
#define AS_PATCH_STATE   "patched"           /* patched.PID.TIME: outcome of the plan */
#define AS_PATCH_MAGIC   0x4e414c5059415353u /* "SSAYPLAN" */
#define AS_PATCH_THREAD  0x4452485459415353u /* "SSAYTHRD" */
#define AS_PATCH_OUTCOME 0x4d43544f59415353u /* "SSAYOTCM" */
#define AS_PATCH_VERSION 16u
#define AS_PATCH_JUMP_B  5u /* bytes that a patch site overwrites */
#define AS_PATCH_HOP_B   2u /* bytes of a short jump, which leads to a hole for the long one */
#define AS_PATCH_BATCH_N 64u
#define AS_PATCH_NONE    0xffu /* no register */

enum as_patch_mode {
    AS_PATCH_IDENT,  /* clones run, nothing is measured */
    AS_PATCH_TIME,   /* every instance is timed */
    AS_PATCH_SAMPLE, /* one instance of `period` on average is timed, by thread and loop */
    AS_PATCH_COUNT,  /* blocks are counted, also lanes and repetitions of instructions */
    AS_PATCH_VARY,   /* some instances run as variants first (patch/variant_plan.h) */
    AS_PATCH_PROBE   /* threads run probes at points of the code (patch/probe_plan.h) */
};

/* Settings of the patcher in the control file. */
struct as_patcher_part {
    uint32_t undo; /* the original code is restored at the end of the program */
    /* Samples are taken: the agent writes the map from clones to original code. */
    uint32_t map;
    /* VARY: max time for variants, in percent of the thread's own run time; 0: 50. */
    uint32_t share;
    uint32_t limit_ms; /* VARY: CPU time in ms after which a variant is endless; 0: 500 */
    /* VARY: 1: all threads in a loop run the same variant at once; 0: one thread runs it. */
    uint32_t together;
};

/* ---- The plan ------------------------------------------------------------------------------ */

struct as_patch_table {
    uint64_t at; /* offset in bytes, a multiple of 8 */
    uint64_t n;
};

struct as_patch_plan {
    uint64_t magic;
    uint32_t version;
    uint32_t mode; /* as_patch_mode */
    /* SAMPLE: mean distance of measured instances. VARY: instances of each variant and bucket. */
    uint32_t period;
    uint32_t kept;        /* capacity of a thread's file in records */
    uint64_t size_b;      /* bytes of the file */
    uint32_t paths_b;     /* TIME, SAMPLE: capacity for call paths in a thread's file, in bytes */
    uint32_t addresses_b; /* COUNT: bytes of the address buffer of each thread; 0: none */
    struct as_patch_table module, region, loop, exit, edge, event, site, reloc, span, counter, term,
        variant, stream, point, act, called, code, text;
};

struct as_patch_module {
    uint8_t build_id[20];
    uint32_t build_id_b;
    uint64_t path; /* offset into text; the path ends with a zero */
    uint64_t low, high;
    uint32_t first_region, regions;
};

/* Template of a clone: its code, and the parts that depend on the addresses of clone and module. */
struct as_patch_template {
    uint64_t code; /* first byte in the code table */
    uint32_t size_b;
    uint32_t header; /* offset of the header's copy, which has the header's address modulo 64 */
    uint32_t first_reloc, relocs;
    uint32_t first_span, spans;
};

/* Free registers at an address: bits of general registers by number, and the status flags. */
enum as_patch_free { AS_PATCH_STATUS_FREE = 1 << 16 };

/* Code that runs as a clone: a loop with its inner loops, or a whole function. With COUNT and PROBE
 * a function needs no loop. */
struct as_patch_region {
    uint64_t header;
    uint8_t original[8]; /* bytes at the header; a jump overwrites JUMP_B or HOP_B of them */
    uint8_t hole[8];     /* with a short jump: original bytes of the hole */
    uint32_t module;
    uint32_t first_loop, loops; /* loops that are measured in it */
    uint32_t first_edge, edges;
    uint32_t first_site, sites;
    uint32_t free;   /* as_patch_free at the header */
    uint16_t enters; /* 1: the header enters the first of the loops and no other */
    uint16_t spills; /* 1: a jump covers the start of a block of the region */
    int32_t hop;     /* as in as_patch_site */
    /* VARY; the first variant notes the written addresses. */
    uint32_t first_variant, variants;
    /* VARY; streams give the written addresses instead. */
    uint32_t first_stream, streams;
    uint32_t slots; /* number of memory counters; their rows follow the streams */
    /* VARY: register that ends a slice at the header after a given number of
     * iterations, or NONE. */
    uint32_t slice_reg;
    uint32_t slice_b;                  /* its bytes: 4 or 8 */
    int64_t slice_step;                /* its change per iteration */
    struct as_patch_template plain;    /* IDENT, SAMPLE, VARY */
    struct as_patch_template measured; /* TIME, SAMPLE, COUNT, VARY, PROBE */
};

struct as_patch_loop {
    uint64_t header;
    int64_t step;    /* of the induction register, per iteration */
    uint32_t number; /* number of the loop in the analysis of its module */
    uint32_t region;
    uint32_t first_exit, exits;
    uint8_t induction;   /* register, or NONE */
    uint8_t induction_b; /* 4 or 8 */
    uint8_t tally;       /* register that counts runs of the header, 0 at entry, or NONE */
    uint8_t unused;
    /* Counter of the thread's file that counts runs of the header; UINT32_MAX: none. */
    uint32_t counter;
};

struct as_patch_exit {
    uint64_t target; /* address to which the exit leads */
    /* Added to the steps of the induction register: 0, 1, or UINT64_MAX: unknown. */
    uint64_t add;
};

/* An edge of a measured clone on which control leaves and enters loops, in the
 * order of its events. */
struct as_patch_edge {
    uint64_t target; /* outside: address in the module; inside: offset in the clone */
    uint32_t inside;
    uint32_t events, first_event;
    uint32_t free; /* as_patch_free at the target */
};

enum as_patch_event_kind { AS_PATCH_LEAVE, AS_PATCH_ENTER };
struct as_patch_event {
    uint32_t loop;
    uint16_t exit; /* exit of the loop */
    uint16_t kind;
};

/* An address in the original code where control enters the clone again. */
struct as_patch_site {
    uint64_t address;
    uint8_t original[8], hole[8];
    uint32_t plain, measured; /* offsets of the entry in the clones */
    /* Not 0: a short jump of HOP_B over so many bytes leads to the jump of JUMP_B. */
    int32_t hop;
    uint32_t unused;
};

enum as_patch_reloc_kind {
    AS_PATCH_TO_MODULE,  /* 4 bytes: distance from at + `from` to address `value` */
    AS_PATCH_TO_EDGE,    /* 4 bytes: distance from at + `from` to the stub of edge `value` */
    AS_PATCH_TO_THREAD,  /* 4 bytes: offset from %fs of the pointer to the thread's file */
    AS_PATCH_TO_COUNTER, /* 4 bytes: offset of counter `value` in the thread's file */
    /* 4 bytes: distance from at + `from` to the agent: the end of variants, or (PROBE)
     * its points. */
    AS_PATCH_TO_AGENT,
    /* 4 bytes: offset from %fs of the word that ends slices of region `value`. */
    AS_PATCH_TO_LIMIT,
    AS_PATCH_TO_ADDRESSES /* 4 bytes: offset from %gs of byte `value` of the thread's file */
};
struct as_patch_reloc {
    uint64_t value;
    uint32_t at; /* offset in the clone */
    uint16_t kind, from;
};

/* VARY: the loop of a region with changed instructions. */
struct as_patch_variant {
    uint32_t kind;  /* as_variant_kind */
    uint32_t bits;  /* as_variant_bit */
    uint32_t enter; /* offset in the clone where control enters */
    uint8_t
        tally; /* REC: register that counts down at the header, or NONE: as_variant_local has it */
    /* REC: register with the address of the next note, or NONE: as_variant_local has it. */
    uint8_t log;
    uint16_t unused;
    struct as_patch_template code;
};

enum { AS_PATCH_STREAM_MOST_B = 1 << 16 };

/* VARY: stores of a loop with addresses that follow from registers at its header. In the first
 * iteration they write `width_b` bytes at base + index * scale + offset. Each iteration adds
 * `step`. */
struct as_patch_stream {
    int64_t offset; /* without registers: an address of the module */
    int64_t step;
    uint32_t width_b;
    uint8_t base, index, scale; /* numbers of registers, or NONE */
    uint8_t of_module;          /* `offset` is an address of the module */
};

/* Code of a clone for the original code from `address` on. */
struct as_patch_span {
    uint64_t address;
    /* Range of the clone. `original_b` bytes of the original correspond to it; 0: inserted before
     * it. */
    uint32_t at, size_b;
    uint32_t original_b;
    uint32_t depth_b; /* bytes on the stack in addition to the original ones */
};

enum as_patch_counts {
    AS_PATCH_RUNS, /* runs of the code from `address` on: a block, or its part after a call */
    /* Lanes that the mask of the instruction at `address` enabled, summed over its runs. */
    AS_PATCH_LANES,
    AS_PATCH_REPEATS, /* repetitions of the string instruction at `address`, summed over its runs */
    /* 1 while the thread is in the loop with its header at `address`: counts of this instance are
     * in registers. */
    AS_PATCH_OPEN,
    AS_PATCH_DROPPED /* address records at `address` that found no space in the buffer */
};

/* Meaning of a counter. */
struct as_patch_counter {
    uint64_t address;
    uint32_t loop; /* innermost loop of the plan that holds it; UINT32_MAX: none */
    uint32_t module;
    uint32_t counts; /* as_patch_counts */
    uint32_t unused;
};

/* One summand of counter `to`, which is not counted itself. `from` is counted. */
struct as_patch_term {
    uint32_t to, from;
    int32_t times;
    uint32_t unused;
};

/* ---- Files of threads ----------------------------------------------------------------------- */

enum as_patch_flag {
    AS_PATCH_CUT = 1 << 0 /* entry and exit do not match: the record does not count */
};

/* One instance of a loop. */
struct as_patch_record {
    uint64_t t0, t1; /* ticks of the time-stamp counter at entry and exit */
    /* Induction register or counter at entry and exit. With a tally, iv1 is the tally. */
    uint64_t iv0, iv1;
    uint32_t loop;
    uint16_t exit;
    uint16_t flags; /* as_patch_flag */
    /* Stack pointer at exit minus that at entry; not 0: entry and exit do not match. */
    uint64_t sp;
    uint64_t disturbed0, disturbed1; /* the thread's `disturbed` at entry and exit */
};

/* The latest entry into a loop. The fields are written in this order, so that a handler in between
 * is detected. */
struct as_patch_slot {
    uint64_t sp, iv0, t0;
    uint64_t countdown; /* SAMPLE: entries before the next measured one */
    uint64_t disturbed; /* `disturbed` of the thread */
    uint64_t path;      /* measured entries before the next one with a call path */
};

#define AS_PATCH_CLASSES 65
struct as_patch_total {
    uint64_t instances; /* measured instances */
    uint64_t trips, ticks;
    uint64_t dropped; /* exits without a matching entry */
    uint64_t kept;    /* records in the table of kept ones */
    uint64_t halved;  /* a measured instance is kept with probability 1 / 2^halved */
    /* Instances in which the thread left the CPU, or had a major page fault. */
    uint64_t switched, faulted;
    /* SAMPLE: number of draws, and the sum of the drawn numbers of entries to skip. `left` is the
     * part of the last draw that was not skipped: exactly if `settled` is set, else at most. */
    uint64_t draws, drawn, left, settled;
    /* Call paths in their table. Each stands for 2^paths_halved measured instances. */
    uint64_t paths, paths_halved;
    /* Measured instances with known trips, by as_patch_class of their trips. */
    uint64_t by_trips[AS_PATCH_CLASSES];
};

/* Returns 0 for no trips, else 1 plus the binary logarithm of `trips`, rounded down. */
static inline unsigned as_patch_class(uint64_t trips)
{
    return trips ? 64u - (unsigned)__builtin_clzll(trips) : 0;
}

/* Call path of an instance: the registers that unwinding needs to find the callers at its end. The
 * stack pointer at the header was the same, so the header's unwind row is valid. */
struct as_patch_path {
    struct as_patch_record record;
    uint64_t header; /* address in memory */
    uint64_t rbx, rbp, rsp, r12, r13, r14, r15;
    uint32_t size_b;  /* bytes including the copy of the stack from rsp on, which follows */
    uint32_t stack_b; /* bytes of the copy, a multiple of 8 */
};

/*
 * COUNT: the buffer of addresses (patch/address_plan.h) in two halves. All members are offsets from
 * %gs unless stated. Only the thread moves the cursor, and only below the limit. At the limit it
 * writes nothing until the reader sets cursor and limit to the other half.
 */
struct as_patch_addresses {
    uint64_t cursor, limit;
    uint64_t open;     /* word with the iterations of the current walk */
    uint64_t patience; /* number of pauses that the thread may still wait at limits */
    uint64_t nowhere;  /* offset of `unread` */
    uint64_t unread;   /* number of iterations of walks without a record */
    uint64_t begin;    /* start of the buffer */
    uint64_t unused;
};
#define AS_PATCH_PATIENCE (UINT64_C(1) << 25)
/* Bytes after the limit of a half: a record starts before the limit. */
#define AS_PATCH_ADDRESSES_MARGIN_B 4096u

struct as_patch_thread {
    uint64_t magic; /* written last */
    uint32_t version, pid, tid, loops;
    uint64_t counters, kept_room;
    uint64_t begun_ns, ended_ns; /* CLOCK_MONOTONIC, in ns */
    int64_t next;                /* minus the free bytes of `batch` */
    uint64_t busy;               /* 1 while a record is written */
    uint64_t dropped;            /* records that handlers lost while `busy` was set */
    uint64_t kept;               /* records in the table of kept ones */
    uint64_t disturbed;          /* sum of time off the CPU and faults; see AS_PATCH_AWAY_BITS */
    uint64_t switches, faults;   /* the kernel's counts at the last change of `disturbed` */
    uint64_t away_ns;            /* time off the CPU until then, in ns */
    /* COUNT: classes of lines that sampled records are written for, one bit for each class modulo
     * 64. An access of at most 8 bytes is tested by `line_sample`. Wider ones are tested by
     * `span_sample`, which also has each class before a sampled one. The reader writes both. */
    uint64_t line_sample, span_sample;
    uint64_t unused[5];             /* padding: records start at a cache line */
    uint64_t paths_room_b, paths_b; /* capacity and length of the table of call paths */
    struct as_patch_addresses addresses;
    struct as_patch_record batch[AS_PATCH_BATCH_N]; /* records that are not summed yet */
    /* Then follow slot[loops], total[loops], counter[counters], call paths, record[kept_room] and
     * addresses. */
};

static inline uint64_t as_patch_slots_at(void)
{
    return sizeof(struct as_patch_thread);
}
static inline uint64_t as_patch_totals_at(uint64_t loops)
{
    return as_patch_slots_at() + loops * sizeof(struct as_patch_slot);
}
static inline uint64_t as_patch_counters_at(uint64_t loops)
{
    return as_patch_totals_at(loops) + loops * sizeof(struct as_patch_total);
}
static inline uint64_t as_patch_paths_at(uint64_t loops, uint64_t counters)
{
    return as_patch_counters_at(loops) + counters * sizeof(uint64_t);
}
static inline uint64_t as_patch_kept_at(uint64_t loops, uint64_t counters, uint64_t paths_b)
{
    return as_patch_paths_at(loops, counters) + paths_b;
}
static inline uint64_t as_patch_addresses_at(const struct as_patch_plan *plan)
{
    return as_patch_kept_at(plan->loop.n, plan->counter.n, plan->paths_b) +
           plan->kept * sizeof(struct as_patch_record);
}
static inline uint64_t as_patch_thread_b(const struct as_patch_plan *plan)
{
    return as_patch_addresses_at(plan) + plan->addresses_b;
}

/* Outcome of a region in one process. The file patched.PID.TIME has a head and one outcome per
 * region. */
enum as_patch_outcome_kind {
    AS_PATCH_WAITING, /* its module was not loaded */
    AS_PATCH_DONE,
    AS_PATCH_DIFFERS, /* the code has other bytes than the plan */
    AS_PATCH_NO_ROOM, /* no memory within reach of the module */
    AS_PATCH_DENIED,  /* the kernel denies writing to code */
    AS_PATCH_THREADS, /* other threads could not be stopped */
    AS_PATCH_BARE     /* the bare agent neither varies nor records */
};
struct as_patch_outcome {
    uint32_t kind;
    uint32_t error;           /* errno */
    uint64_t bias;            /* address of the module in memory minus its address in the file */
    uint64_t plain, measured; /* addresses of the clones */
    uint64_t entry;           /* target of the jump over the header */
    uint64_t stubs_b;         /* bytes of their stubs */
};
struct as_patch_outcomes {
    uint64_t magic;
    uint32_t version, pid;
    uint64_t regions;
    uint64_t threads_missed;
};

/* `disturbed` of a thread contains two sums. The low AS_PATCH_AWAY_BITS bits have the time off the
 * CPU, at least one unit per switch. The bits above count major page faults. */
#define AS_PATCH_AWAY_BITS 44
#define AS_PATCH_AWAY_MASK ((UINT64_C(1) << AS_PATCH_AWAY_BITS) - 1)
#define AS_PATCH_AWAY_NS   64u /* ns per unit */

/* Return true if the thread left the CPU, or had a major page fault, in a recorded instance. */
static inline bool as_patch_is_switched(const struct as_patch_record *record)
{
    return ((record->disturbed1 - record->disturbed0) & AS_PATCH_AWAY_MASK) != 0;
}
static inline bool as_patch_is_faulted(const struct as_patch_record *record)
{
    return (record->disturbed1 - record->disturbed0) >> AS_PATCH_AWAY_BITS != 0;
}
/* Returns the time off the CPU in a recorded instance, in ns. A single unit counts as 0, because
 * its time is unknown. */
static inline uint64_t as_patch_away_ns(const struct as_patch_record *record)
{
    const uint64_t units = (record->disturbed1 - record->disturbed0) & AS_PATCH_AWAY_MASK;
    return units > 1 ? units * AS_PATCH_AWAY_NS : 0;
}

/* Returns how often the header ran in a recorded instance; UINT64_MAX: unknown. */
static inline uint64_t as_patch_trips(const struct as_patch_loop *loop, uint64_t add, uint64_t iv0,
                                      uint64_t iv1)
{
    uint64_t distance = iv1 - iv0;
    if (loop->tally != AS_PATCH_NONE)
        return iv1;
    if (loop->counter != UINT32_MAX)
        return distance;
    if (loop->induction == AS_PATCH_NONE || loop->step == 0 || add == UINT64_MAX)
        return UINT64_MAX;
    uint64_t step = (uint64_t)loop->step;
    if (loop->step < 0) {
        distance = -distance;
        step = -step;
    }
    if (loop->induction_b == 4)
        distance = (uint32_t)distance;
    return distance / step + add;
}

_Static_assert(sizeof(struct as_patch_plan) == 40 + 18 * 16, "layout of plans");
_Static_assert(sizeof(struct as_patch_module) == 56, "layout of plans");
_Static_assert(sizeof(struct as_patch_template) == 32, "layout of plans");
_Static_assert(sizeof(struct as_patch_region) == 168, "layout of plans");
_Static_assert(sizeof(struct as_patch_loop) == 40, "layout of plans");
_Static_assert(sizeof(struct as_patch_exit) == 16, "layout of plans");
_Static_assert(sizeof(struct as_patch_edge) == 24, "layout of plans");
_Static_assert(sizeof(struct as_patch_event) == 8, "layout of plans");
_Static_assert(sizeof(struct as_patch_site) == 40, "layout of plans");
_Static_assert(sizeof(struct as_patch_reloc) == 16, "layout of plans");
_Static_assert(sizeof(struct as_patch_variant) == 48, "layout of plans");
_Static_assert(sizeof(struct as_patch_stream) == 24, "layout of plans");
_Static_assert(sizeof(struct as_patch_span) == 24, "layout of plans");
_Static_assert(sizeof(struct as_patch_counter) == 24, "layout of plans");
_Static_assert(sizeof(struct as_patch_term) == 16, "layout of plans");
_Static_assert(sizeof(struct as_patch_record) == 64, "layout of records");
_Static_assert(sizeof(struct as_patch_slot) == 48, "layout of threads' files");
_Static_assert(sizeof(struct as_patch_total) == 632, "layout of threads' files");
_Static_assert(sizeof(struct as_patch_path) == 136, "layout of threads' files");
_Static_assert(sizeof(struct as_patch_thread) ==
                   256 + AS_PATCH_BATCH_N * sizeof(struct as_patch_record),
               "layout of threads' files");
_Static_assert(sizeof(struct as_patch_outcome) == 48, "layout of outcomes");
_Static_assert(sizeof(struct as_patch_outcomes) == 32, "layout of outcomes");

/* Returns the address of the jump of JUMP_B that belongs to the patch site at `address`. */
static inline uint64_t as_patch_jump_at(uint64_t address, int32_t hop)
{
    return hop ? address + AS_PATCH_HOP_B + (uint64_t)(int64_t)hop : address;
}

/* Checks the `n` bytes of a plan. Returns NULL, or the fault as a text. After success every index
 * and offset in the plan is inside of it. The function uses only its arguments. */
const char *as_patch_plan_check(const void *plan, uint64_t n);

static inline const void *as_patch_at(const struct as_patch_plan *plan,
                                      const struct as_patch_table *table)
{
    return (const uint8_t *)plan + table->at;
}

/* Computes the counters that follow from others, for one thread or the sums of several. A thread
 * that was killed in a loop has entries without exits. So a difference may be negative; it becomes
 * 0. */
static inline void as_patch_counters_complete(const struct as_patch_plan *plan, uint64_t *counter)
{
    const struct as_patch_term *term = (const struct as_patch_term *)as_patch_at(plan, &plan->term);
    for (uint64_t i = 0; i < plan->term.n; i++)
        counter[term[i].to] += (uint64_t)(int64_t)term[i].times * counter[term[i].from];
    for (uint64_t i = 0; i < plan->term.n; i++)
        if ((int64_t)counter[term[i].to] < 0)
            counter[term[i].to] = 0;
}

#endif
