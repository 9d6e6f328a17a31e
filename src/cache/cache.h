/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of caches that a stream of addresses is replayed through: set-associative levels with
 * least-recently-used replacement, write-allocate, write-back. It counts lines, not time: no
 * prefetcher, no address translation, no other core (Hennessy and Patterson, appendix B).
 * Not thread-safe: one model for each thread.
 */
#ifndef AS_CACHE_CACHE_H
#define AS_CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>

enum { AS_CACHE_LEVELS_MOST = 4 };

enum as_cache_kind {
    /* Filled on the way in; neither holds nor excludes what nearer levels have. Write-backs of
     * lines that it does not have pass on to the level behind it. */
    AS_CACHE_PLAIN,
    AS_CACHE_ALLOCATING, /* the same, but it takes such lines */
    AS_CACHE_INCLUSIVE,  /* so, and a line that leaves it leaves the nearer levels */
    AS_CACHE_VICTIM      /* filled by lines that leave the level before; a hit moves the line out */
};

struct as_cache_level {
    uint64_t size_b;
    uint32_t ways; /* 0: fully associative */
    enum as_cache_kind kind;
};

enum as_cache_access {
    AS_CACHE_READ,
    AS_CACHE_WRITE,
    AS_CACHE_STREAM /* a non-temporal store: goes to memory, and no level keeps the line */
};

/* Lines, but for `stream_b`. */
struct as_cache_counts {
    double line_n; /* lines that accesses asked the first level for */
    struct {
        double miss_n;    /* lines that came in from behind this level */
        double written_n; /* changed lines that left it for the level behind it */
        double clean_n;   /* unchanged lines that a victim cache behind it took */
    } level[AS_CACHE_LEVELS_MOST];
    double stream_b; /* bytes of non-temporal stores */
};

struct as_cache;

/*
 * Makes a model of `n` levels, the nearest first, with lines of `line_b` bytes (a power of two).
 * Sizes are rounded down to a multiple of ways * line. Errors: USAGE, NOMEM.
 */
int as_cache_new(const struct as_cache_level *level, unsigned n, uint32_t line_b,
                 struct as_cache **out, struct assay_error *err);
void as_cache_free(struct as_cache **cache);

unsigned as_cache_level_n(const struct as_cache *cache);

/* Accesses line number `line` (address / line size), and adds `weight` for each event to `counts`.
 * `stream_b`: bytes that a non-temporal store writes there. */
void as_cache_line(struct as_cache *cache, uint64_t line, enum as_cache_access access,
                   uint32_t stream_b, double weight, struct as_cache_counts *counts);

/* Bytes between level `k` (0: the first) and the one behind it, both ways. */
double as_cache_traffic_b(const struct as_cache_counts *counts, unsigned k, uint32_t line_b);
/* Bytes between the last of `n` levels and memory, with non-temporal stores. */
double as_cache_memory_b(const struct as_cache_counts *counts, unsigned n, uint32_t line_b);

/* ---- reuse.c: reuse distances of sampled lines ------------------------------------------------
 */

/*
 * The reuse distance of an access counts the other lines since the last access to its line. A fully
 * associative cache of more lines hits. Lines are sampled by a hash of their number, and distances
 * scaled (SHARDS; Waldspurger et al., FAST 2015).
 */
struct as_reuse;

#define AS_REUSE_COLD     UINT64_MAX       /* the first access to the line */
#define AS_REUSE_SKIPPED  (UINT64_MAX - 1) /* the line is not in the sample */
#define AS_REUSE_NO_SPACE (UINT64_MAX - 2) /* out of memory: the line is forgotten */

/* Samples one line of 2^`shift`. Errors: NOMEM. */
int as_reuse_new(unsigned shift, struct as_reuse **out, struct assay_error *err);
void as_reuse_free(struct as_reuse **reuse);
/* Distance in lines of an access to `line`, or one of the three words above. */
uint64_t as_reuse_access(struct as_reuse *reuse, uint64_t line);

enum { AS_REUSE_STEPS = 8, AS_REUSE_BINS = 48 * AS_REUSE_STEPS };
/* Accesses by distance: eight bins from one power of two to the next. */
struct as_reuse_curve {
    double near[AS_REUSE_BINS];
    double cold;
};
void as_reuse_curve_add(struct as_reuse_curve *curve, uint64_t distance, double weight);
/* Share of the accesses that miss in a fully associative cache of `lines`; NAN without accesses. */
double as_reuse_miss_share(const struct as_reuse_curve *curve, double lines);

#endif
