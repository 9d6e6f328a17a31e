/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays recorded addresses (patch/address_plan.h) through a cache model (cache/cache.h). Each
 * thread has a model. Traffic is summed by innermost loop. Knows no files and no processes.
 */
#ifndef AS_COUNT_REPLAY_H
#define AS_COUNT_REPLAY_H

#include <stdatomic.h>

#include "cache/cache.h"
#include "patch/address_plan.h"

enum { AS_REPLAY_LINE_B = 64, AS_REPLAY_CLASSES = 64, AS_REPLAY_REUSE_SHIFT = 7 };
enum { AS_REPLAY_KEPT_LEAST = 4 }; /* classes that are kept unless the replay is too slow */

/* Innermost loop or body that records belong to. */
struct as_level_replay_group {
    uint32_t module, body, loop; /* as in a record */
    struct as_cache_counts counts;
    double replayed_n; /* sum over records that are not sampled of runs * operands */
    double miss_n;     /* number of misses in the model that `counts` rest on */
    uint32_t class_n[AS_REPLAY_CLASSES]; /* misses of L1 while all classes were kept */
    struct as_reuse_curve *curve;        /* NULL if it has no line of the sample */
};

struct as_level_replay {
    const struct as_address_plan *plan; /* borrowed */
    struct as_cache_level level[AS_CACHE_LEVELS_MOST];
    unsigned levels;
    uint32_t classes; /* a line belongs to class (number mod classes); classes share no cache set */
    uint64_t kept;    /* one bit for each class that is replayed */
    uint32_t kept_n;
    uint64_t line_n, next_n; /* replayed lines; at next_n half of the classes is dropped */
    uint64_t full_n;         /* number of lines until the next half is dropped */
    uint64_t damaged;        /* invalid records: the rest of their half is lost */
    uint32_t *group_of;      /* by record */
    /* By record: number of its replayed runs; of a sampled record those of kept lines, weighted. */
    double *runs;
    bool is_sampled; /* the plan has records that the program writes for kept classes only */
    AS_VEC(struct as_level_replay_group) group;
};

/* One thread of the program. */
struct as_level_replay_thread {
    struct as_cache *cache;
    struct as_reuse *reuse;
};

/*
 * Prepares the replay of a plan. `level` is copied. `full_n` is the number of lines before sets are
 * sampled. Errors: NOMEM.
 */
int as_level_replay_init(struct as_level_replay *replay, const struct as_address_plan *plan,
                         const struct as_cache_level *level, unsigned levels, uint64_t full_n,
                         struct as_error *err);
void as_level_replay_fini(struct as_level_replay *replay);

int as_level_replay_thread_init(const struct as_level_replay *replay,
                                struct as_level_replay_thread *thread, struct as_error *err);
void as_level_replay_thread_fini(struct as_level_replay_thread *thread);

/*
 * Replays `n` words of a buffer that the program may still write to. Returns the number of replayed
 * words, which is below `n` if a walk is unfinished, or after a damaged record.
 */
size_t as_level_replay_words(struct as_level_replay *replay, struct as_level_replay_thread *thread,
                             const uint64_t *word, size_t n);

/* Keeps one class only, for a replay that is slower than the program. It does nothing if one class
 * had another share of the misses of a loop before. */
void as_level_replay_hurry(struct as_level_replay *replay);
/* Returns the kept classes as one bit for each line number modulo 64. With `spans` the class before
 * each is included. */
uint64_t as_level_replay_mask(const struct as_level_replay *replay, bool spans);
/* Returns the share of cache sets in the model: 1, 1/2, ... */
double as_level_replay_share(const struct as_level_replay *replay);

#endif
