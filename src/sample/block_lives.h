/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of memory over time: the address range of each block, its allocation and release time, and
 * the call stack of its allocation (its site). Addresses are reused, so a block is found by address
 * and time. Only blocks that existed while a sample was taken are written
 * (doc/reference/accesses.md).
 */
#ifndef AS_SAMPLE_BLOCK_LIVES_H
#define AS_SAMPLE_BLOCK_LIVES_H

#include "sample/recorder.h"

#define AS_BLOCK_CALLERS_N 15u
#define AS_BLOCK_SITE_NONE UINT32_MAX

struct as_block_life {
    uint64_t start, end;       /* [start, end); end 0: marks the release of the block at `start` */
    uint64_t born_ns, died_ns; /* died_ns UINT64_MAX: no release was recorded */
    uint32_t site;             /* AS_BLOCK_SITE_NONE: unknown */
    bool mapped;               /* allocated by mmap */
};

typedef AS_VEC(struct as_block_life) as_block_life_list;

/* Process and time of a kept sample with registers. */
struct as_draw_time {
    uint32_t pid;
    uint64_t time_ns;
};

typedef AS_VEC(struct as_draw_time) as_draw_times;

struct as_block_process;
struct as_block_site;

/* Empty after as_block_lives_init. */
struct as_block_lives {
    AS_VEC(struct as_block_process) process; /* a parent comes before its children */
    struct as_map_u64 by_pid;
    AS_VEC(struct as_block_site) site;
    struct as_map_u64 by_key;
    size_t n, prune_n; /* number of lives; the number at which as_block_lives_prune is due */
    uint64_t newest_ns, dropped;
};

void as_block_lives_init(struct as_block_lives *lives);
void as_block_lives_fini(struct as_block_lives *lives);

/* Adds an ALLOCATE, RELEASE or INHERIT record. Returns 0 or NOMEM. */
int as_block_lives_add(struct as_block_lives *lives, const struct as_sample_record *record);
/* Ends all blocks of a process that executes another program. Returns 0 or NOMEM. */
int as_block_lives_exec(struct as_block_lives *lives, uint32_t pid, uint64_t time_ns);
/* Converts the call addresses of the sites of a process from before `time_ns` to module and offset.
 * Call it before its mappings change. */
void as_block_lives_locate(struct as_block_lives *lives, uint32_t pid, const struct as_space *space,
                           uint64_t time_ns);
/* Returns true if so many lives are kept that blocks without samples should be dropped. */
static inline bool as_block_lives_full(const struct as_block_lives *lives)
{
    return lives->n >= lives->prune_n;
}

/* Drops dead blocks that no sample of `times` can belong to. `times` is sorted by process and
 * time. */
void as_block_lives_prune(struct as_block_lives *lives, const as_draw_times *times);
/* Writes the blocks that existed at `times` as facts of the processes. `times` is sorted by process
 * and time. Returns 0 or the error of the writer. */
int as_block_lives_write(struct as_block_lives *lives, const as_draw_times *times,
                         const struct as_spaces *spaces, struct as_writer *writer);

/* Sorts the lives by start and time, and sets `died_ns` of each. Drops release markers older than
 * `gone_ns`. */
void as_block_lives_pair(as_block_life_list *list, uint64_t gone_ns);

#endif
