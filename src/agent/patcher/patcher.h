/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the patcher share: the plan, where its modules and clones are in memory, and
 * the thread's file that the stubs write into. It needs no decoder (patch/plan.h). What stubs call
 * runs in the middle of the program's loops: it uses general registers alone, makes no system call
 * and calls nobody.
 */
#ifndef AS_AGENT_PATCHER_H
#define AS_AGENT_PATCHER_H

#include "agent/core/agent.h"
#include "agent/shared/code_map.h"
#include "patch/plan.h"

/* A module of the plan in this process. */
struct as_patcher_module {
    bool is_there;
    uint64_t bias;
    uint8_t *cache;
    uint64_t cache_b, used_b;
    struct as_code_map *map; /* of what is in the cache; NULL: none is wanted */
    uint64_t map_b, pieces;
};

struct as_patcher {
    const struct as_patch_plan *plan;
    struct as_patcher_module *module; /* as in the plan */
    struct as_patch_outcomes *outcomes;
    struct as_patch_thread *nowhere; /* for threads without a file */
    uint64_t thread_b;
    bool counts_here; /* what the plan counts can be counted in this program */
    _Atomic int busy; /* modules are being patched */
    bool deferred;    /* jumps are written later, region by region (bare_attach.c) */
};
extern struct as_patcher as_patcher;
extern const struct as_agent_client as_agent_patcher;

/* Offset from %fs of the pointer that the kernel clears when the thread leaves the processor
 * (rseq(2)); 0: there is none. */
extern int32_t as_patcher_mark_offset;

/* What stubs find at an offset from a segment: the thread's file (NULL: none yet), and SAMPLE: of
 * the first loops, instances until the next that is measured; and whether the one that runs is,
 * where the measured clone runs in any case. */
#define AS_PATCHER_COUNTDOWNS 128u
#ifdef AS_AGENT_BARE
/* %fs is the program's: a page of ours stands before the thread's file, and %gs leads there. */
#define AS_PATCHER_LOCAL_B   AS_AGENT_PAGE_B
#define AS_PATCHER_SEGMENT   "gs"
#define AS_PATCHER_PREFIX    0x65
#define as_patcher_thread    (as_patcher_locals()->thread)
#define as_patcher_countdown (as_patcher_locals()->countdown)
#define as_patcher_armed     (as_patcher_locals()->armed)
#define as_patcher_drawn     (as_patcher_locals()->drawn)
struct as_patcher_locals {
    struct as_patcher_locals *self; /* as the C library has it at %fs:0 */
    struct as_patch_thread *thread;
    struct as_patcher_locals *next; /* of all in this process */
    uint64_t drawn;
    int64_t countdown[AS_PATCHER_COUNTDOWNS], armed[AS_PATCHER_COUNTDOWNS];
};
static inline struct as_patcher_locals *as_patcher_locals(void)
{
    struct as_patcher_locals *self;
    __asm__ volatile("mov %%gs:0, %0" : "=r"(self));
    return self;
}
#else
#define AS_PATCHER_LOCAL_B 0u
#define AS_PATCHER_SEGMENT "fs"
#define AS_PATCHER_PREFIX  0x64
extern AS_AGENT_LOCAL struct as_patch_thread *as_patcher_thread;
extern AS_AGENT_LOCAL int64_t as_patcher_countdown[AS_PATCHER_COUNTDOWNS];
extern AS_AGENT_LOCAL int64_t as_patcher_armed[AS_PATCHER_COUNTDOWNS];
#endif

static inline struct as_patch_outcome *as_patcher_outcome(uint64_t region)
{
    return (struct as_patch_outcome *)(as_patcher.outcomes + 1) + region;
}

static inline struct as_patch_total *as_patcher_total(struct as_patch_thread *thread, uint64_t loop)
{
    uint8_t *totals = (uint8_t *)thread + as_patch_totals_at(thread->loops);
    return (struct as_patch_total *)(void *)totals + loop;
}

/* ---- patcher_thread.c ---- */

/* What counts stands at %gs:offset; a program that uses %gs itself cannot be counted. */
bool as_patcher_can_count(void);
void as_patcher_set_base(const void *base); /* of %gs */
void as_patcher_thread_begin(void);
void as_patcher_thread_end(void);
void as_patcher_thread_forked(void);
/* What is in the batch of this thread becomes totals. */
void as_patcher_thread_flush(void);

/* ---- patcher_slow.c: called by stubs ---- */

void as_patcher_drain(struct as_patch_thread *thread);
/* Enter by `call` with rax, rcx, rdx free; keep everything else. */
void as_patcher_slow_begin(void);    /* the thread has no file */
void as_patcher_slow_full(void);     /* the batch is full */
void as_patcher_slow_draw(void);     /* rax: instances until the next measured of loop rdx */
void as_patcher_slow_switched(void); /* the kernel has cleared the mark of the thread */
void as_patcher_slow_drop(void);     /* a handler came in while a record was written */
uint64_t as_patcher_draw_number(void);

/* ---- patcher_path.c ---- */

/* By a stub where the latest record was written, rdx being the thread's file and AT_EXIT_B on the
 * stack above what the program has there: takes its call path, and says when the next is. */
void as_patcher_slow_path(void);
#define AS_PATCHER_AT_EXIT_B (128 + 5 * 8)
void as_patcher_paths_nowhere(void); /* threads without a file take none */

/* From now on a switch of the thread clears what is at %fs:as_patcher_mark_offset. */
void as_patcher_set_mark(void);

/* ---- patcher_entry.c, patcher_stub.c ---- */

/* Writes code; behind `end` nothing is written, and `full` is set. */
struct as_patcher_code {
    uint8_t *at, *end;
    uint8_t *ahead; /* room of AHEAD_B before the header of the plain clone; NULL: none */
    bool full;
    struct as_patcher_module *module; /* whose map says what the code is for; */
    uint64_t original;                /* for this, */
    uint32_t depth_b;                 /* with so much on the stack */
};
/* SAMPLE: what an instance that is not measured runs can stand in so much room before the header of
 * the plain clone, and run into it: a taken branch less. */
#define AS_PATCHER_AHEAD_B 15u
bool as_patcher_counts_ahead(const struct as_patch_region *region);
/* Where the header's jump leads: code that is written, or, where nothing is to be done, one of the
 * headers of the clones, `plain` and `measured`. */
const uint8_t *as_patcher_stub_entry(struct as_patcher_code *code,
                                     const struct as_patch_region *region, const uint8_t *plain,
                                     const uint8_t *measured);
/* The stub of an edge of the measured clone that begins at `clone`. */
uint8_t *as_patcher_stub_edge(struct as_patcher_code *code, const struct as_patch_edge *edge,
                              const uint8_t *clone, uint64_t bias);
int32_t as_patcher_thread_offset(void); /* of as_patcher_thread from the segment */

/* ---- patcher_clone.c ---- */

/* Clones and stubs of all regions of module `m` into its cache; outcomes say which are ready. */
void as_patcher_clone_module(uint64_t m);
/* Room of `size_b` from which all of [low, high) is within reach, writable; NULL: there is none. */
void *as_patcher_reach(uint64_t low, uint64_t high, uint64_t size_b);

/* ---- patcher_map.c: of a module; nothing where no map is wanted ---- */

void as_patcher_map_begin(uint64_t m);
/* The code from `at` on stands for that at `original`, with `depth_b` more bytes on the stack. */
void as_patcher_map_add(struct as_patcher_module *module, const uint8_t *at, uint64_t original,
                        uint32_t depth_b, bool steps);
void as_patcher_map_template(struct as_patcher_module *module, const struct as_patch_template *t,
                             const uint8_t *clone);
void as_patcher_map_end(struct as_patcher_module *module); /* all is there */
void as_patcher_map_gone(struct as_patcher_module *module);
void as_patcher_map_forked(struct as_patcher_module *module);

/* ---- patcher_write.c ---- */

/* Lets the code of module `m` jump into its clones, or makes it what it was. */
void as_patcher_write_module(uint64_t m, bool undo);
/* So of those regions of it that `is_chosen`, while all threads stand still. 0 or -errno. */
int as_patcher_write_regions(uint64_t m, bool undo, bool (*is_chosen)(uint64_t region));
/* Whether an address of the file is in the original code of a region. */
bool as_patcher_is_original(const struct as_patch_region *region, uint64_t address);

#endif
