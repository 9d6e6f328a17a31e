/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plan maker, the agent inside the program and the reader of its results share: the plan
 * file, the file of each thread, the record of one loop instance (doc/internals/patch.md). Fixed
 * layouts, little-endian. Addresses are those of the file; offsets count from the beginning of the
 * file they stand in. Both sides check what they read.
 */
#ifndef AS_PATCH_PLAN_H
#define AS_PATCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AS_PATCH_PLAN    "plan"              /* in the directory of the agent */
#define AS_PATCH_PREFIX  "patch."            /* patch.PID.TID: one file a thread */
#define AS_PATCH_STATE   "patched"           /* patched.PID.TIME: what became of the plan */
#define AS_PATCH_MAGIC   0x4e414c5059415353u /* "SSAYPLAN" */
#define AS_PATCH_THREAD  0x4452485459415353u /* "SSAYTHRD" */
#define AS_PATCH_OUTCOME 0x4d43544f59415353u /* "SSAYOTCM" */
#define AS_PATCH_VERSION 15u
#define AS_PATCH_JUMP_B  5u /* bytes that a patch overwrites */
#define AS_PATCH_HOP_B   2u /* or so many, which lead to another place for it */
#define AS_PATCH_BATCH_N 64u
#define AS_PATCH_NONE    0xffu /* no register */

enum as_patch_mode {
    AS_PATCH_IDENT,  /* clones run, nothing is measured */
    AS_PATCH_TIME,   /* every instance */
    AS_PATCH_SAMPLE, /* one instance of `period`, by thread and loop */
    AS_PATCH_COUNT,  /* how often each block runs, and what its instructions repeat or mask */
    AS_PATCH_VARY,   /* some instances as variants first (patch/variant_plan.h) */
    AS_PATCH_PROBE   /* threads do at points of the code what probes say (patch/probe_plan.h) */
};

/* The patcher's part of the control file. */
struct as_patcher_part {
    uint32_t undo;     /* at the end of the program its code becomes what it was */
    uint32_t map;      /* samples are taken: the agent says which code clones stand for */
    uint32_t share;    /* VARY: hundredths of a thread's time that variants may take; 0: half */
    uint32_t limit_ms; /* VARY: processor time after which a variant is endless; 0: 500 */
    uint32_t together; /* VARY: all threads in a loop run the same variant at once; 0: one thread */
};

/* ---- The plan ------------------------------------------------------------------------------ */

struct as_patch_table {
    uint64_t at; /* offset, a multiple of 8 */
    uint64_t n;
};

struct as_patch_plan {
    uint64_t magic;
    uint32_t version;
    uint32_t mode;        /* as_patch_mode */
    uint32_t period;      /* SAMPLE */
    uint32_t kept;        /* records that the file of a thread has room for */
    uint64_t size_b;      /* of the file */
    uint32_t paths_b;     /* TIME, SAMPLE: room that the file of a thread has for call paths */
    uint32_t addresses_b; /* COUNT: size of the buffer for addresses of each thread; 0: none */
    struct as_patch_table module, region, loop, exit, edge, event, site, reloc, span, counter, term,
        variant, stream, point, act, called, code, text;
};

struct as_patch_module {
    uint8_t build_id[20];
    uint32_t build_id_b;
    uint64_t path; /* offset into text, with a zero */
    uint64_t low, high;
    uint32_t first_region, regions;
};

/* A clone: code to be copied, and what depends on where it and the module lie. */
struct as_patch_template {
    uint64_t code; /* first byte in the code table */
    uint32_t size_b;
    uint32_t header; /* offset of the header's copy: at the same address modulo 64 */
    uint32_t first_reloc, relocs;
    uint32_t first_span, spans;
};

/* What nobody needs at a place: general registers by their number, and the status flags. */
enum as_patch_free { AS_PATCH_STATUS_FREE = 1 << 16 };

/* Code that runs as a clone: a loop with what it holds, or a whole function; with COUNT and PROBE
 * it need not have loops. */
struct as_patch_region {
    uint64_t header;
    uint8_t original[8]; /* bytes at the header; JUMP_B or HOP_B of them are overwritten */
    uint8_t hole[8];     /* with a hop: those where it leads */
    uint32_t module;
    uint32_t first_loop, loops; /* that are measured in it */
    uint32_t first_edge, edges;
    uint32_t first_site, sites;
    uint32_t free;                    /* as_patch_free, at the header */
    uint16_t enters;                  /* at the header the first of the loops is entered, alone */
    uint16_t spills;                  /* a jump lies over the beginning of a block of the region */
    int32_t hop;                      /* as of a site */
    uint32_t first_variant, variants; /* VARY; the first notes what is written */
    uint32_t first_stream, streams;   /* VARY; or tell it */
    uint32_t slots;                   /* behind the streams: places in memory that it counts in */
    uint32_t slice_reg; /* VARY: register by which it is left at the header after so many
                         * iterations as it is told, or NONE */
    uint32_t slice_b;   /* its width: 4 or 8 */
    int64_t slice_step; /* what an iteration adds to it */
    struct as_patch_template plain;    /* IDENT, SAMPLE, VARY */
    struct as_patch_template measured; /* TIME, SAMPLE, COUNT, VARY, PROBE */
};

struct as_patch_loop {
    uint64_t header;
    int64_t step;    /* of the induction register */
    uint32_t number; /* in the analysis of its module */
    uint32_t region;
    uint32_t first_exit, exits;
    uint8_t induction;   /* number of a register, or NONE */
    uint8_t induction_b; /* 4 or 8 */
    uint8_t tally;       /* register that counts at the header, set to 0 at entry, or NONE */
    uint8_t unused;
    uint32_t counter; /* of the thread's file, counts at the header; UINT32_MAX: none */
};

struct as_patch_exit {
    uint64_t target; /* where it leads */
    uint64_t add;    /* to the steps of the induction register: 0, 1, or UINT64_MAX: not known */
};

/* A way in a measured clone on which loops are left and entered, in this order of events. */
struct as_patch_edge {
    uint64_t target; /* outside: an address of the module; inside: an offset in the clone */
    uint32_t inside;
    uint32_t events, first_event;
    uint32_t free; /* as_patch_free, where it leads */
};

enum as_patch_event_kind { AS_PATCH_LEAVE, AS_PATCH_ENTER };
struct as_patch_event {
    uint32_t loop;
    uint16_t exit; /* of the loop */
    uint16_t kind;
};

/* A place in the original code where control comes back into the clone. */
struct as_patch_site {
    uint64_t address;
    uint8_t original[8], hole[8];
    uint32_t plain, measured; /* offsets in the clones */
    int32_t hop;              /* not 0: a jump of HOP_B over so many bytes, to JUMP_B bytes */
    uint32_t unused;
};

enum as_patch_reloc_kind {
    AS_PATCH_TO_MODULE,  /* 4 bytes: distance from at + `from` to address `value` */
    AS_PATCH_TO_EDGE,    /* 4 bytes: distance from at + `from` to the stub of edge `value` */
    AS_PATCH_TO_THREAD,  /* 4 bytes: offset from %fs of the pointer to the thread's file */
    AS_PATCH_TO_COUNTER, /* 4 bytes: offset of counter `value` in the thread's file */
    AS_PATCH_TO_AGENT,   /* 4 bytes: distance from at + `from` to where variants end, PROBE: to
                            where points lead */
    AS_PATCH_TO_LIMIT, /* 4 bytes: offset from %fs of the word that ends slices of region `value` */
    AS_PATCH_TO_ADDRESSES /* 4 bytes: offset from %gs of byte `value` of the thread's file */
};
struct as_patch_reloc {
    uint64_t value;
    uint32_t at; /* offset in the clone */
    uint16_t kind, from;
};

/* VARY: the loop of a region with other instructions. */
struct as_patch_variant {
    uint32_t kind;  /* as_variant_kind */
    uint32_t bits;  /* as_variant_bit */
    uint32_t enter; /* offset in the clone: where it begins */
    uint8_t
        tally; /* REC: register that counts down at the header, or NONE: as_variant_local has it */
    uint8_t log; /* REC: register that leads to the next note, or NONE: so */
    uint16_t unused;
    struct as_patch_template code;
};

enum { AS_PATCH_STREAM_MOST_B = 1 << 16 };

/* VARY: stores of a loop whose addresses follow from the registers at its header: `width_b`
 * bytes at base + index * scale + offset in the first iteration, in the next `step` further. */
struct as_patch_stream {
    int64_t offset; /* without registers: an address of the module */
    int64_t step;
    uint32_t width_b;
    uint8_t base, index, scale; /* numbers of registers, or NONE */
    uint8_t of_module;          /* the offset is an address of it */
};

/* Code of a clone that stands for the original code from `address` on. */
struct as_patch_span {
    uint64_t address;
    uint32_t at, size_b; /* in the clone; of the original it is `original_b`, 0: put in before it */
    uint32_t original_b;
    uint32_t depth_b; /* more on the stack than there */
};

enum as_patch_counts {
    AS_PATCH_RUNS,  /* how often the code from `address` on ran: a block, or its part behind a call
                     */
    AS_PATCH_LANES, /* of the instruction at `address`, each time it ran: lanes that its mask let */
    AS_PATCH_REPEATS, /* so: repetitions of the string instruction there */
    AS_PATCH_OPEN     /* 1 while the thread is in the loop whose header stands at `address`, and its
                         counts of this instance in registers */
};

/* What counter number i counts. */
struct as_patch_counter {
    uint64_t address;
    uint32_t loop; /* innermost one of the plan around it; UINT32_MAX: none */
    uint32_t module;
    uint32_t counts; /* as_patch_counts */
    uint32_t unused;
};

/* Counter `to` is not counted: it is the sum of its terms. `from` is counted. */
struct as_patch_term {
    uint32_t to, from;
    int32_t times;
    uint32_t unused;
};

/* ---- What a thread leaves ------------------------------------------------------------------ */

enum as_patch_flag {
    AS_PATCH_CUT = 1 << 0 /* entry and exit do not belong together: not counted */
};

/* One instance of a loop. */
struct as_patch_record {
    uint64_t t0, t1;   /* ticks of the time stamp counter */
    uint64_t iv0, iv1; /* induction register or counter at entry and exit; iv1: the tally */
    uint32_t loop;
    uint16_t exit;
    uint16_t flags; /* as_patch_flag */
    uint64_t sp; /* stack pointer at exit less that at entry: 0, or they do not belong together */
    uint64_t disturbed0, disturbed1; /* the thread's `disturbed` at entry and exit */
};

/* The latest entry into a loop. Written in this order, so that a handler between is noticed. */
struct as_patch_slot {
    uint64_t sp, iv0, t0;
    uint64_t countdown; /* SAMPLE: entries until the next that is measured */
    uint64_t disturbed; /* the thread's */
    uint64_t path;      /* measured ones until the next whose call path is taken */
};

#define AS_PATCH_CLASSES 65
struct as_patch_total {
    uint64_t instances; /* measured */
    uint64_t trips, ticks;
    uint64_t dropped;           /* seen to end without their beginning */
    uint64_t kept;              /* records in the table of kept ones */
    uint64_t halved;            /* a measured one is kept with probability 1 / 2^halved */
    uint64_t switched, faulted; /* in which the thread left the processor; had a major fault */
    /* SAMPLE: entries that were drawn to be measured; what the draws said that would pass in
     * between, and how much of that did not yet: when `settled`, else at most. */
    uint64_t draws, drawn, left, settled;
    /* Call paths in their table; each stands for 2^paths_halved measured instances. */
    uint64_t paths, paths_halved;
    /* Measured instances by as_patch_class of their trips, where these are known. */
    uint64_t by_trips[AS_PATCH_CLASSES];
};

/* 0 for no trip, else 1 more than the power of two that is not above. */
static inline unsigned as_patch_class(uint64_t trips)
{
    return trips ? 64u - (unsigned)__builtin_clzll(trips) : 0;
}

/* How an instance was come to: what is needed to find who had called the loop's function when it
 * ended. Its stack pointer was the same at the header, whose unwind row holds then. */
struct as_patch_path {
    struct as_patch_record record;
    uint64_t header; /* address in memory */
    uint64_t rbx, rbp, rsp, r12, r13, r14, r15;
    uint32_t size_b;  /* with the copy of the stack from rsp on, which follows */
    uint32_t stack_b; /* of that: multiples of 8 */
};

/*
 * COUNT: the buffer of addresses (patch/address_plan.h), in two halves. All are offsets from %gs.
 * The thread alone moves the cursor while it is below the limit. From the limit on it writes
 * nothing, and the reader sets cursor and limit to the other half.
 */
struct as_patch_addresses {
    uint64_t cursor, limit;
    uint64_t open;     /* the iterations of the walk that runs */
    uint64_t patience; /* at the limit it waits at most so many pauses, all together */
    uint64_t nowhere;  /* offset of `unread` */
    uint64_t unread;   /* iterations of walks that are not recorded */
    uint64_t begin;    /* of the buffer */
    uint64_t unused;
};
#define AS_PATCH_PATIENCE (UINT64_C(1) << 25)
/* Room behind the limit of a half: a record begins before the limit. */
#define AS_PATCH_ADDRESSES_MARGIN_B 4096u

struct as_patch_thread {
    uint64_t magic; /* written last */
    uint32_t version, pid, tid, loops;
    uint64_t counters, kept_room;
    uint64_t begun_ns, ended_ns;    /* CLOCK_MONOTONIC */
    int64_t next;                   /* less the bytes that are free in `batch` */
    uint64_t busy;                  /* a record is being written */
    uint64_t dropped;               /* by handlers that came in between */
    uint64_t kept;                  /* records in the table of kept ones */
    uint64_t disturbed;             /* time off the CPU, and faults: AS_PATCH_AWAY_BITS */
    uint64_t switches, faults;      /* as the kernel counted them when that changed last */
    uint64_t away_ns;               /* time off the CPU by then */
    uint64_t unused[7];             /* records begin on a line of the cache */
    uint64_t paths_room_b, paths_b; /* of the table of call paths, and what is in it */
    struct as_patch_addresses addresses;
    struct as_patch_record batch[AS_PATCH_BATCH_N]; /* not yet taken into account */
    /* then: slot[loops], total[loops], counter[counters], call paths, record[kept_room], addresses
     */
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

/* What became of a region in one process; patched.PID is a head and these, one a region. */
enum as_patch_outcome_kind {
    AS_PATCH_WAITING, /* its module did not come */
    AS_PATCH_DONE,
    AS_PATCH_DIFFERS, /* other bytes stand there */
    AS_PATCH_NO_ROOM, /* no memory within reach of the module */
    AS_PATCH_DENIED,  /* the kernel does not let us write code */
    AS_PATCH_THREADS, /* other threads could not be stopped */
    AS_PATCH_BARE     /* the bare agent neither varies nor records */
};
struct as_patch_outcome {
    uint32_t kind;
    uint32_t error;           /* errno */
    uint64_t bias;            /* of the module: address in memory less that of the file */
    uint64_t plain, measured; /* addresses of the clones */
    uint64_t entry;           /* where the jump over the header leads */
    uint64_t stubs_b;         /* of their stubs */
};
struct as_patch_outcomes {
    uint64_t magic;
    uint32_t version, pid;
    uint64_t regions;
    uint64_t threads_missed;
};

/* `disturbed` of a thread has two sums. The low bits have the time off the CPU, at least one unit
 * for each switch. The bits above count major faults. */
#define AS_PATCH_AWAY_BITS 44
#define AS_PATCH_AWAY_MASK ((UINT64_C(1) << AS_PATCH_AWAY_BITS) - 1)
#define AS_PATCH_AWAY_NS   64u /* a unit */

/* What of `disturbed` happened in a recorded instance. */
static inline bool as_patch_is_switched(const struct as_patch_record *record)
{
    return ((record->disturbed1 - record->disturbed0) & AS_PATCH_AWAY_MASK) != 0;
}
static inline bool as_patch_is_faulted(const struct as_patch_record *record)
{
    return (record->disturbed1 - record->disturbed0) >> AS_PATCH_AWAY_BITS != 0;
}
/* Nanoseconds; those of one unit are not known. */
static inline uint64_t as_patch_away_ns(const struct as_patch_record *record)
{
    const uint64_t units = (record->disturbed1 - record->disturbed0) & AS_PATCH_AWAY_MASK;
    return units > 1 ? units * AS_PATCH_AWAY_NS : 0;
}

/* How often the header ran in a recorded instance; UINT64_MAX: not known. */
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

/* Where the jump of JUMP_B stands that belongs to the place at `address`. */
static inline uint64_t as_patch_jump_at(uint64_t address, int32_t hop)
{
    return hop ? address + AS_PATCH_HOP_B + (uint64_t)(int64_t)hop : address;
}

/* NULL, or what is wrong with the `n` bytes of a plan: after that every index and offset in it
 * leads to a place inside. Uses nothing but its arguments. */
const char *as_patch_plan_check(const void *plan, uint64_t n);

static inline const void *as_patch_at(const struct as_patch_plan *plan,
                                      const struct as_patch_table *table)
{
    return (const uint8_t *)plan + table->at;
}

/* From the counters of a thread, or the sums of several: those that follow from others. A thread
 * that was killed in a loop has begun what it did not end, so that a difference may be below 0. */
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
