/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the patcher share: the plan, where its modules and clones are in memory, and
 * the thread's file that the stubs write into. It needs no decoder (patch/plan.h). What stubs call
 * runs in the middle of the program's loops: it uses general registers alone, makes no system call
 * and calls nobody.
 */
#ifndef AS_AGENT_PATCHER_H
#define AS_AGENT_PATCHER_H

#include "agent/agent.h"
#include "patch/plan.h"

/* The part of the control file. */
struct as_patcher_part {
    uint32_t undo; /* at the end of the program its code becomes what it was */
};

/* A module of the plan in this process. */
struct as_patcher_module {
    bool is_there;
    uint64_t bias;
    uint8_t *cache;
    uint64_t cache_b, used_b;
};

struct as_patcher {
    const struct as_patch_plan *plan;
    struct as_patcher_module *module; /* as in the plan */
    struct as_patch_outcomes *outcomes;
    struct as_patch_thread *nowhere; /* for threads without a file */
    uint64_t thread_b;
    _Atomic int busy; /* modules are being patched */
};
extern struct as_patcher as_patcher;
extern const struct as_agent_client as_agent_patcher;

/* What stubs find at %fs:offset. */
extern __thread struct as_patch_thread *as_patcher_thread
    __attribute__((tls_model("initial-exec")));

/* SAMPLE: countdowns of the first regions, for those where one instruction may change flags. */
#define AS_PATCHER_COUNTDOWNS 128u
extern __thread int64_t as_patcher_countdown[AS_PATCHER_COUNTDOWNS]
    __attribute__((tls_model("initial-exec")));

static inline struct as_patch_outcome *as_patcher_outcome(uint64_t region)
{
    return (struct as_patch_outcome *)(as_patcher.outcomes + 1) + region;
}

/* ---- patcher_thread.c ---- */

void as_patcher_thread_begin(void);
void as_patcher_thread_end(void);
void as_patcher_thread_forked(void);
/* What is in the batch of this thread becomes totals. */
void as_patcher_thread_flush(void);

/* ---- patcher_slow.c: called by stubs ---- */

void as_patcher_drain(struct as_patch_thread *thread);
/* Enter by `call` with rax, rcx, rdx free; keep everything else. */
void as_patcher_slow_begin(void); /* the thread has no file */
void as_patcher_slow_full(void);  /* the batch is full */
void as_patcher_slow_draw(void);  /* rax: instances until the next that is measured */
void as_patcher_slow_drop(void);  /* a handler came in while a record was written */

/* ---- patcher_stub.c ---- */

/* Writes code; behind `end` nothing is written, and `full` is set. */
struct as_patcher_code {
    uint8_t *at, *end;
    bool full;
};
/* Where the header's jump leads; `plain` and `measured` are the headers of the clones. */
uint8_t *as_patcher_stub_entry(struct as_patcher_code *code, const struct as_patch_region *region,
                               const uint8_t *plain, const uint8_t *measured);
/* The stub of an edge of the measured clone that begins at `clone`. */
uint8_t *as_patcher_stub_edge(struct as_patcher_code *code, const struct as_patch_edge *edge,
                              const uint8_t *clone, uint64_t bias);
int32_t as_patcher_thread_offset(void); /* of as_patcher_thread from %fs */

/* ---- patcher_clone.c ---- */

/* Clones and stubs of all regions of module `m` into its cache; outcomes say which are ready. */
void as_patcher_clone_module(uint64_t m);
/* Room of `size_b` from which all of [low, high) is within reach, writable; NULL: there is none. */
void *as_patcher_reach(uint64_t low, uint64_t high, uint64_t size_b);

/* ---- patcher_write.c ---- */

/* Lets the code of module `m` jump into its clones, or makes it what it was. */
void as_patcher_write_module(uint64_t m, bool undo);

#endif
