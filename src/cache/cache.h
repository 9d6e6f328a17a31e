/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of caches that replays a stream of addresses. Its levels are set-associative with
 * least-recently-used replacement, write-allocate and write-back. It counts lines, not time. There
 * is no prefetcher, no address translation and no other core (Hennessy and Patterson, appendix B).
 * Not thread-safe: use one model per thread.
 */
#ifndef AS_CACHE_CACHE_H
#define AS_CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { AS_CACHE_LEVELS_MOST = 4 };

enum as_cache_kind {
    /* Filled by every miss, without regard to the lines of nearer levels. A write-back of a line
     * that it does not have passes on to the next level. */
    AS_CACHE_PLAIN,
    AS_CACHE_ALLOCATING, /* as PLAIN, but a write-back allocates the line */
    AS_CACHE_INCLUSIVE,  /* as ALLOCATING, and nearer levels lose a line that it evicts */
    AS_CACHE_VICTIM      /* filled by evictions of the level before; a hit moves the line out */
};

struct as_cache_level {
    uint64_t size_b;
    uint32_t ways; /* 0 = fully associative */
    enum as_cache_kind kind;
};

enum as_cache_access {
    AS_CACHE_READ,
    AS_CACHE_WRITE,
    AS_CACHE_STREAM /* a non-temporal store: it goes to memory, and no level keeps the line */
};

/* Weighted numbers of lines, except for `stream_b`. */
struct as_cache_counts {
    double line_n; /* accesses to the first level */
    struct {
        double miss_n;    /* lines that this level requested from behind it */
        double written_n; /* changed lines that it wrote to the next level */
        double clean_n;   /* unchanged lines that it evicted to a victim cache */
    } level[AS_CACHE_LEVELS_MOST];
    double stream_b; /* bytes of non-temporal stores */
};

struct as_cache;

/*
 * Makes a model of `n` levels, nearest first, with lines of `line_b` bytes (a power of two). Sizes
 * are rounded down to a multiple of ways * line_b. The caller frees it with as_cache_free. Errors:
 * USAGE, NOMEM.
 */
int as_cache_new(const struct as_cache_level *level, unsigned n, uint32_t line_b,
                 struct as_cache **out, struct as_error *err);
void as_cache_free(struct as_cache **cache);

unsigned as_cache_level_n(const struct as_cache *cache);

/* Accesses line number `line` (address / line_b), and adds `weight` for each event to `counts`.
 * `stream_b` is the number of bytes that a non-temporal store writes. */
void as_cache_line(struct as_cache *cache, uint64_t line, enum as_cache_access access,
                   uint32_t stream_b, double weight, struct as_cache_counts *counts);

/* Returns the bytes between level `k` (0 = first) and the next one, in both directions. */
double as_cache_traffic_b(const struct as_cache_counts *counts, unsigned k, uint32_t line_b);
/* Returns the bytes between the last of `n` levels and memory, non-temporal stores included. */
double as_cache_memory_b(const struct as_cache_counts *counts, unsigned n, uint32_t line_b);

/* ---- reuse.c: reuse distances of sampled lines ------------------------------------------- */

/*
 * The reuse distance of an access is the number of other lines accessed since the last access to
 * its line. A fully associative cache with more lines hits. Lines are sampled by a hash of their
 * number, and distances are scaled (SHARDS; Waldspurger et al., FAST 2015).
 */
struct as_reuse;

#define AS_REUSE_COLD     UINT64_MAX       /* the first access to the line */
#define AS_REUSE_SKIPPED  (UINT64_MAX - 1) /* the line is not in the sample */
#define AS_REUSE_NO_SPACE (UINT64_MAX - 2) /* out of memory: the access is not recorded */

/* Samples one of 2^`shift` lines. The caller frees it with as_reuse_free. Errors: NOMEM. */
int as_reuse_new(unsigned shift, struct as_reuse **out, struct as_error *err);
void as_reuse_free(struct as_reuse **reuse);
/* Returns the reuse distance of an access in lines, or one of the three constants above. */
uint64_t as_reuse_access(struct as_reuse *reuse, uint64_t line);

enum { AS_REUSE_STEPS = 8, AS_REUSE_BINS = 48 * AS_REUSE_STEPS };
/* Weight of the accesses by distance, with eight bins per power of two. */
struct as_reuse_curve {
    double near[AS_REUSE_BINS];
    double cold;
};
void as_reuse_curve_add(struct as_reuse_curve *curve, uint64_t distance, double weight);
/* Returns the share of accesses that miss in a fully associative cache of `lines` lines; NAN
 * without accesses. */
double as_reuse_miss_share(const struct as_reuse_curve *curve, double lines);

#endif
