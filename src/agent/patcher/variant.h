/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files about variants share: the area of each thread, in which some instances of loops
 * run as variants and are taken back (patch/variant_plan.h, doc/internals/patch.md).
 */
#ifndef AS_AGENT_VARIANT_H
#define AS_AGENT_VARIANT_H

#include <sys/resource.h>

#include "agent/patcher/patcher.h"
#include "patch/variant_plan.h"

enum {
    AS_VARIANT_STATE_B = 16384, /* of xsave(2) at most */
    AS_VARIANT_STACK_B = 65536,
    AS_VARIANT_BUCKETS = 4096,
    AS_VARIANT_FAILURES = 8 /* after these a region is left alone */
};
#define AS_VARIANT_LOG_B  (UINT64_C(64) << 20)
#define AS_VARIANT_COPY_B (UINT64_C(128) << 20)

/* How many instances of each variant there are, of a region and with so many iterations. */
struct as_variant_bucket {
    uint32_t region, size; /* + 1; 0: free */
    uint32_t turns;
    uint32_t done;
};

/* Of a region: how many iterations a slice of an instance has; what is known of their time. */
struct as_variant_slicing {
    uint64_t trips; /* 0: not known yet */
    uint64_t least; /* ticks of a pilot */
    uint32_t pilots, tries;
};

/* What the entry of a loop does with this instance. */
enum as_variant_way { AS_VARIANT_PLAIN, AS_VARIANT_MEASURED, AS_VARIANT_PASSES };

enum as_variant_guard { AS_VARIANT_FREE, AS_VARIANT_RUNS, AS_VARIANT_RESTORES };

struct as_variant_area {
    struct as_variant_local local;                                  /* %gs leads here */
    uint8_t state[AS_VARIANT_STATE_B] __attribute__((aligned(64))); /* of the program's vectors */
    uint8_t stack[AS_VARIANT_STACK_B] __attribute__((aligned(64)));
    uint8_t guard_stack[AS_VARIANT_STACK_B] __attribute__((aligned(64))); /* of faults */
    _Atomic uint32_t guard; /* as_variant_guard: what a fault means */
    uint32_t flags;         /* as_variant_flag of what runs */
    uint64_t *log;
    uint8_t *copy;
    struct as_variant_file *file;
    const struct as_patch_region *region; /* that varies */
    uint64_t begun_ran_ns, asked_ran_ns;  /* what the thread had run by then */
    uint64_t begun, begun_ns, asked;      /* ticks, but for the clock */
    uint64_t trips;                       /* of the instance */
    uint64_t notes, at, copied_b;
    uint8_t frame[AS_VARIANT_FRAME_MOST][AS_VARIANT_FRAME_B]; /* what is in slots */
    uint32_t stored_slots; /* a bit each: put back behind what runs */
    uint32_t slot;         /* that comes next there */
    uint32_t stream;       /* and in it `at` is how far it was copied */
    uint64_t changes;      /* of the thread's processor, and faults of pages */
    int timer;
    bool has_timer, pending;
    struct as_variant_record record; /* of what is pending */
    uint64_t pending_sp;
    uint32_t skip[AS_PATCHER_COUNTDOWNS];   /* by region, of the first: instances, at last */
    uint32_t joined[AS_PATCHER_COUNTDOWNS]; /* so: round (variant_schedule.c) */
    bool opens;                             /* it is this thread that opened it */
    struct as_variant_slicing slicing[AS_PATCHER_COUNTDOWNS]; /* so */
    uint64_t pilot;                                           /* region + 1 whose pilot runs */
    uint32_t promised[AS_PATCHER_COUNTDOWNS];                 /* records, by region */
    uint32_t buckets[AS_PATCHER_COUNTDOWNS];                  /* so */
    uint64_t promises;                                        /* to all of them */
    struct as_variant_bucket bucket[AS_VARIANT_BUCKETS];
    uint8_t stored[1 << 20]; /* where it stores: bits by a hash of the place */
};

extern __thread struct as_variant_area *as_variant_self __attribute__((tls_model("initial-exec")));

struct as_variants {
    const uint8_t **entry;    /* by variant of the plan: where it begins */
    _Atomic uint32_t *failed; /* by region: faults, and instances that cannot vary */
    uint32_t share;           /* hundredths of a thread's time */
    uint32_t limit_ms;        /* of a variant */
    bool together;
};
extern struct as_variants as_variants;
extern uint8_t as_variant_compacts; /* the processor has xsavec */

static inline uint64_t as_variant_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

/* ---- variant_enter.c: assembly, and what runs on the program's stack ---- */

void as_variant_enter(void);     /* of a stub: rdx is the region; rax: as_variant_way */
void as_variant_left(void);      /* where variants end */
void as_variant_abandoned(void); /* where those end that a fault ends */
void as_variant_slow_left(void); /* of a stub: what was measured has ended */
/* The variant at local.target, from the program's state. */
void as_variant_run(struct as_variant_area *area);
/* `what`, which a fault ends. */
void as_variant_call(struct as_variant_area *area, void (*what)(struct as_variant_area *));
/* What a stub does before and behind an instance that it measures: local.t0 and t1. */
void as_variant_measure_nothing(struct as_variant_area *area);
void as_variant_save_state(struct as_variant_area *area);
/* Whether the thread left the processor, or touched a page for the first time, since it began to
 * watch. */
void as_variant_watch(struct as_variant_area *area);
bool as_variant_was_switched(const struct as_variant_area *area);
void as_variant_keep(struct as_variant_area *area, const struct as_variant_record *record);

/* ---- variant_area.c: threads ---- */

long as_variant_call_system(long number, long a, long b, long c, long d); /* leaves errno alone */
uint64_t as_variant_get_base(void);                                       /* of %gs */
void as_variant_set_base(uint64_t base);
bool as_variant_begin(void);
void as_variant_thread_begin(void);
void as_variant_thread_end(void);
void as_variant_forked(void);

/* ---- variant.c: which instance is which variant ---- */

uint64_t as_variant_dispatch(struct as_variant_area *area, uint64_t region);

/* ---- variant_room.c ---- */

/* Divides the room for records among the regions of the plan. */
void as_variant_promise_room(struct as_variant_area *area, const struct as_patch_plan *plan);
/* Takes room for a record of region `number`; returns false if there is none. */
bool as_variant_claim_record(struct as_variant_area *area, uint64_t number);

/* ---- variant_dispatch.c ---- */

/* as_variant_way, but MEASURED: to be dispatched. */
uint64_t as_variant_ask(struct as_variant_area *area, uint64_t region);
void as_variant_skip(uint64_t region, uint32_t instances); /* before the next */
void as_variant_skip_more(struct as_variant_area *area, uint64_t region);

/* ---- variant_slicing.c: slices of iterations ---- */

/* A sliced loop is left where its register has this value (patch/clone_slice.c). */
extern __thread uint64_t as_variant_limit[AS_PATCHER_COUNTDOWNS]
    __attribute__((tls_model("initial-exec")));
bool as_variant_is_sliced(uint64_t region);
bool as_variant_lacks_limit(uint64_t region); /* it would be, but there is no word for it */
/* Whether it is known how long a slice is; if not, the next is a pilot, which PASSES. */
bool as_variant_knows_slice(struct as_variant_area *area, uint64_t region);
/* The instance is left after so many iterations from here on. */
void as_variant_limit_to(const struct as_variant_area *area, uint64_t region, uint64_t trips);
/* What this thread has run: while others have the processor, ticks pass all the same. */
uint64_t as_variant_ran_ns(void);
void as_variant_begin_clocks(struct as_variant_area *area);
/* So long in ticks, as they passed since the thread began. */
uint64_t as_variant_ticks_of(const struct as_variant_area *area, uint64_t ns);
/* It runs on as the program has it, until there is time again. */
enum as_variant_way as_variant_pass(const struct as_variant_area *area, uint64_t region);

/* ---- variant_run.c: one run ---- */

/* What runs at `entry`; false: a fault or the timer ended it. */
bool as_variant_run_at(struct as_variant_area *area, const uint8_t *entry);
/* The branches and addresses of the instance alone: its iterations, and what it will write. False:
 * it cannot vary. */
bool as_variant_record(struct as_variant_area *area, struct as_variant_record *record);
bool as_variant_vary(struct as_variant_area *area, const struct as_patch_variant *variant,
                     struct as_variant_record *record, uint32_t number);
const struct as_patch_variant *as_variant_of(const struct as_patch_region *region);

/* ---- variant_schedule.c: threads one after the other, or all at once ---- */

enum { AS_VARIANT_NO_TURN = UINT32_MAX };
/* Whether this thread may vary an instance of the region now; as_variant_end_turn then. */
bool as_variant_begin_turn(struct as_variant_area *area, uint64_t region, bool may_open);
void as_variant_end_turn(struct as_variant_area *area);
/* The turn that the thread which opened the round chose; it hands over its own. NO_TURN: it leaves
 * the round. */
uint32_t as_variant_share_turn(struct as_variant_area *area, uint64_t region, uint32_t turn);
/* Waits for the others of the round; how many there are, 0 where nobody asks. */
unsigned as_variant_wait_for_round(struct as_variant_area *area, uint64_t region);
void as_variant_turns_forked(void);

/* ---- variant_undo_log.c ---- */

/* Whether what is stored may be what addresses or branches are loaded from. */
bool as_variant_loads_stores(struct as_variant_area *area);
/* Places that the loop counts in: false if those of its stack do not lie there, or after a fault.
 */
bool as_variant_save_frame(struct as_variant_area *area);
/* Notes which of them the loop stored to, by the notes of REC. */
void as_variant_see_slots(struct as_variant_area *area);
void as_variant_restore_frame(struct as_variant_area *area);
bool as_variant_hits_frame(const struct as_variant_area *area); /* what it stores elsewhere */
bool as_variant_save(struct as_variant_area *area); /* false: it is too much, or a fault */
void as_variant_restore(struct as_variant_area *area);
void as_variant_drain(uint64_t stored_b); /* waits for stores past the caches */

/* ---- variant_stub.c ---- */

void as_variant_stub_entry(struct as_patcher_code *code, const struct as_patch_region *region,
                           const uint8_t *plain, const uint8_t *measured);
void as_variant_stub_edge(struct as_patcher_code *code);
int32_t as_variant_limit_offset(uint64_t region); /* of its limit from %fs */
/* A jump to as_variant_left, wherever that lies. */
const uint8_t *as_variant_stub_left(struct as_patcher_code *code);

/* ---- guard.c ---- */

/* Faults of variants end these; those of the program are what they were. */
void as_guard_begin(void);

#endif
