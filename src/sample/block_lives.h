/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of memory over time: where each was, from when until when, and the call stack of its
 * allocation (its site). Addresses are used again, so a block is found by address and time. Only
 * blocks that existed while a sample was taken are written (doc/reference/accesses.md).
 */
#ifndef AS_SAMPLE_BLOCK_LIVES_H
#define AS_SAMPLE_BLOCK_LIVES_H

#include "sample/recorder.h"

#define AS_BLOCK_CALLERS_N 15u
#define AS_BLOCK_SITE_NONE UINT32_MAX

struct as_block_life {
    uint64_t start, end;       /* [start, end); end 0: what was at `start` is gone */
    uint64_t born_ns, died_ns; /* died_ns UINT64_MAX: it was not seen */
    uint32_t site;             /* AS_BLOCK_SITE_NONE: not known */
    bool mapped;               /* by mmap */
};

typedef AS_VEC(struct as_block_life) as_block_life_list;

/* A sample with registers that are kept. */
struct as_draw_time {
    uint32_t pid;
    uint64_t time_ns;
};

typedef AS_VEC(struct as_draw_time) as_draw_times;

struct as_block_process;
struct as_block_site;

/* All zero but for as_block_lives_init: none yet. */
struct as_block_lives {
    AS_VEC(struct as_block_process) process; /* those that fork before their children */
    struct as_map_u64 by_pid;
    AS_VEC(struct as_block_site) site;
    struct as_map_u64 by_key;
    size_t n, prune_n; /* lives; how many make them be looked through */
    uint64_t newest_ns, dropped;
};

void as_block_lives_init(struct as_block_lives *lives);
void as_block_lives_fini(struct as_block_lives *lives);

/* ALLOCATE, RELEASE and INHERIT records. 0 or NOMEM. */
int as_block_lives_add(struct as_block_lives *lives, const struct assay_sample_record *record);
/* The process executes another program: its blocks are gone. 0 or NOMEM. */
int as_block_lives_exec(struct as_block_lives *lives, uint32_t pid, uint64_t time_ns);
/* Finds the code of the sites that a process had before `time_ns`, when its mappings change. */
void as_block_lives_locate(struct as_block_lives *lives, uint32_t pid, const struct as_space *space,
                           uint64_t time_ns);
/* So many are kept that blocks without samples should be dropped. */
static inline bool as_block_lives_full(const struct as_block_lives *lives)
{
    return lives->n >= lives->prune_n;
}

/* Drops dead blocks that no sample of `times` (by process and time) can be of. */
void as_block_lives_prune(struct as_block_lives *lives, const as_draw_times *times);
/* The blocks at the times of samples (by process and time), as facts on the processes. 0 or the
 * writer's error. */
int as_block_lives_write(struct as_block_lives *lives, const as_draw_times *times,
                         const struct as_spaces *spaces, struct as_writer *writer);

/* Sorts the lives by start and time, and sets when each died. `gone`: markers of a release that
 * are older are dropped. */
void as_block_lives_pair(as_block_life_list *list, uint64_t gone_ns);

#endif
