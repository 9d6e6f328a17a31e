/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays recorded addresses (patch/address_plan.h) through a model of caches (cache/cache.h).
 * Each thread has a model; traffic is summed by innermost loop. Knows no files and no processes.
 */
#ifndef AS_COUNT_REPLAY_H
#define AS_COUNT_REPLAY_H

#include <stdatomic.h>

#include "cache/cache.h"
#include "patch/address_plan.h"

enum { AS_REPLAY_LINE_B = 64, AS_REPLAY_CLASSES = 64, AS_REPLAY_REUSE_SHIFT = 7 };

/* Innermost code that records belong to. */
struct as_level_replay_group {
    uint32_t module, body, loop; /* as of a record */
    struct as_cache_counts counts;
    double replayed_n;            /* runs of records * their operands */
    double miss_n;                /* events of the model behind `counts` */
    struct as_reuse_curve *curve; /* NULL: no line of the sample */
};

struct as_level_replay {
    const struct as_address_plan *plan; /* borrowed */
    struct as_cache_level level[AS_CACHE_LEVELS_MOST];
    unsigned levels;
    uint32_t classes; /* lines of equal number modulo this share sets in no level with others */
    uint64_t kept;    /* bit by class: is replayed */
    uint32_t kept_n;
    uint64_t line_n, next_n; /* lines replayed; at next_n half of the classes are left out */
    uint64_t full_n;         /* so many lines later again half */
    uint64_t damaged;        /* records that make no sense: the rest of their half is lost */
    uint32_t *group_of;      /* by record */
    double *runs;            /* by record: how often it was replayed */
    AS_VEC(struct as_level_replay_group) group;
};

/* One thread of the program. */
struct as_level_replay_thread {
    struct as_cache *cache;
    struct as_reuse *reuse;
};

/* Prepares for a plan; `level` is copied. `full_n`: lines until sets are sampled. Errors: NOMEM. */
int as_level_replay_init(struct as_level_replay *replay, const struct as_address_plan *plan,
                         const struct as_cache_level *level, unsigned levels, uint64_t full_n,
                         struct assay_error *err);
void as_level_replay_fini(struct as_level_replay *replay);

int as_level_replay_thread_init(const struct as_level_replay *replay,
                                struct as_level_replay_thread *thread, struct assay_error *err);
void as_level_replay_thread_fini(struct as_level_replay_thread *thread);

/*
 * Replays `n` words of a buffer, which the program may still write to. Returns how many were
 * replayed: fewer than `n` where a walk has no iterations yet, or after damage (counted).
 */
size_t as_level_replay_words(struct as_level_replay *replay, struct as_level_replay_thread *thread,
                             const uint64_t *word, size_t n);

/* Share of the sets that the model replays now: 1, 1/2, ... */
double as_level_replay_share(const struct as_level_replay *replay);

#endif
