/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The levels of the model. The ways of a set are sorted by use, the latest first. A hit in the
 * first way is by far the most frequent, and compares one word.
 */
#include "cache/cache.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cache/full.h"

/* A way holds (line number + 1) << 1, and this bit if the line was changed. 0 means empty. */
#define CHANGED UINT64_C(1)

/* A single set with more ways than this is not searched way by way. */
enum { SEARCHED_MOST = 32 };

struct model_level {
    struct as_cache_full *full; /* of a single large set; `way` is NULL then */
    uint64_t *way;              /* all ways, set by set */
    uint64_t sets, mask;        /* mask 0: the set is line % sets */
    uint32_t ways;
    enum as_cache_kind kind;
};

struct as_cache {
    unsigned n;
    struct model_level level[AS_CACHE_LEVELS_MOST];
};

/* The receiver of the events of one access, and their weight. */
struct model_sums {
    struct as_cache_counts *counts;
    double weight;
};

static uint64_t way_of_line(uint64_t line)
{
    return (line + 1) << 1;
}

static uint64_t line_of_way(uint64_t way)
{
    return (way >> 1) - 1;
}

static uint64_t *set_of_line(const struct model_level *l, uint64_t line)
{
    const uint64_t set = l->mask || l->sets == 1 ? line & l->mask : line % l->sets;
    return l->way + set * l->ways;
}

/* Returns the way of the line in the set, or `ways` if it is not there. */
static uint32_t find_way(const uint64_t *set, uint32_t ways, uint64_t line)
{
    const uint64_t way = way_of_line(line);
    uint32_t w = 0;
    while (w < ways && (set[w] & ~CHANGED) != way)
        w++;
    return w;
}

static void move_to_front(uint64_t *set, uint32_t w, uint64_t way)
{
    memmove(set + 1, set, w * sizeof *set);
    set[0] = way;
}

/* Removes a line from a level. Returns its way, or 0 if it was not there. */
static uint64_t drop_line(struct model_level *l, uint64_t line)
{
    if (l->full)
        return as_cache_full_drop(l->full, line);
    uint64_t *set = set_of_line(l, line);
    const uint32_t w = find_way(set, l->ways, line);
    if (w == l->ways)
        return 0;
    const uint64_t way = set[w];
    memmove(set + w, set + w + 1, (l->ways - 1 - w) * sizeof *set);
    set[l->ways - 1] = 0;
    return way;
}

/* Adds the bits `changed` to a line of the level; with `use` it becomes the latest of its set.
 * Returns false if the level does not have it. */
static bool touch_line(struct model_level *l, uint64_t line, uint64_t changed, bool use)
{
    if (l->full)
        return as_cache_full_touch(l->full, line, changed, use);
    uint64_t *set = set_of_line(l, line);
    const uint32_t w = find_way(set, l->ways, line);
    if (w == l->ways)
        return false;
    const uint64_t way = set[w] | changed;
    if (use && w)
        move_to_front(set, w, way);
    else
        set[w] = way;
    return true;
}

/* Adds a missing line as the latest of its set. Returns the way that it replaces, or 0. */
static uint64_t replace_last(struct model_level *l, uint64_t way)
{
    if (l->full)
        return as_cache_full_insert(l->full, way);
    uint64_t *set = set_of_line(l, line_of_way(way));
    const uint64_t last = set[l->ways - 1];
    move_to_front(set, l->ways - 1, way);
    return last;
}

static void evict_line(struct as_cache *cache, unsigned k, uint64_t way,
                       const struct model_sums *sums);

/* Adds a missing line to level `k`. */
static void insert_line(struct as_cache *cache, unsigned k, uint64_t way,
                        const struct model_sums *sums)
{
    const uint64_t last = replace_last(&cache->level[k], way);
    if (last)
        evict_line(cache, k, last, sums);
}

/* Passes an evicted line to level `k`. A write-back does not change the order of use. */
static void write_line_back(struct as_cache *cache, unsigned k, uint64_t way,
                            const struct model_sums *sums)
{
    struct model_level *l = &cache->level[k];
    if (touch_line(l, line_of_way(way), way & CHANGED, false))
        return;
    if (l->kind != AS_CACHE_PLAIN) {
        insert_line(cache, k, way, sums);
    } else {
        sums->counts->level[k].written_n += sums->weight;
        if (k + 1 < cache->n)
            write_line_back(cache, k + 1, way, sums);
    }
}

static void evict_line(struct as_cache *cache, unsigned k, uint64_t way,
                       const struct model_sums *sums)
{
    const bool has_next = k + 1 < cache->n;
    const bool next_is_victim = has_next && cache->level[k + 1].kind == AS_CACHE_VICTIM;
    for (unsigned j = 0; cache->level[k].kind == AS_CACHE_INCLUSIVE && j < k; j++)
        way |= drop_line(&cache->level[j], line_of_way(way)) & CHANGED;
    if (way & CHANGED)
        sums->counts->level[k].written_n += sums->weight;
    else if (next_is_victim)
        sums->counts->level[k].clean_n += sums->weight;
    if (has_next && (way & CHANGED || next_is_victim))
        write_line_back(cache, k + 1, way, sums);
}

/* Fetches a line that the levels before `k` miss. Returns CHANGED if a victim cache had it
 * changed. */
static uint64_t fetch_line(struct as_cache *cache, unsigned k, uint64_t line,
                           const struct model_sums *sums)
{
    if (k == cache->n)
        return 0;
    struct model_level *l = &cache->level[k];
    if (l->kind == AS_CACHE_VICTIM) {
        const uint64_t way = drop_line(l, line);
        if (way)
            return way & CHANGED;
    } else if (touch_line(l, line, 0, true))
        return 0;
    sums->counts->level[k].miss_n += sums->weight;
    const uint64_t changed = fetch_line(cache, k + 1, line, sums);
    if (l->kind == AS_CACHE_VICTIM)
        return changed;
    insert_line(cache, k, way_of_line(line) | changed, sums);
    return 0;
}

static void stream_line(struct as_cache *cache, uint64_t line)
{
    for (unsigned k = 0; k < cache->n; k++)
        drop_line(&cache->level[k], line);
}

void as_cache_line(struct as_cache *cache, uint64_t line, enum as_cache_access access,
                   uint32_t stream_b, double weight, struct as_cache_counts *counts)
{
    const struct model_sums sums = {counts, weight};
    struct model_level *l = &cache->level[0];
    counts->line_n += weight;
    if (access == AS_CACHE_STREAM) {
        counts->stream_b += weight * stream_b;
        stream_line(cache, line);
        return;
    }
    const uint64_t changed = access == AS_CACHE_WRITE ? CHANGED : 0;
    if (touch_line(l, line, changed, true))
        return;
    counts->level[0].miss_n += weight;
    const uint64_t moved = fetch_line(cache, 1, line, &sums);
    insert_line(cache, 0, way_of_line(line) | changed | moved, &sums);
}

double as_cache_traffic_b(const struct as_cache_counts *counts, unsigned k, uint32_t line_b)
{
    return (counts->level[k].miss_n + counts->level[k].written_n) * line_b;
}

double as_cache_memory_b(const struct as_cache_counts *counts, unsigned n, uint32_t line_b)
{
    return as_cache_traffic_b(counts, n - 1, line_b) + counts->stream_b;
}

unsigned as_cache_level_n(const struct as_cache *cache)
{
    return cache->n;
}

/* ---- Construction --------------------------------------------------------------------------- */

static int make_level(struct model_level *l, const struct as_cache_level *wish, uint32_t line_b,
                      struct as_error *err)
{
    const uint64_t lines = wish->size_b / line_b;
    const uint64_t ways = wish->ways ? wish->ways : lines;
    if (ways == 0 || lines < ways || ways > INT32_MAX)
        return as_error_set(err, AS_ERR_USAGE,
                            "cache: %llu bytes do not hold %llu ways of %u bytes; use a larger "
                            "size or fewer ways",
                            (unsigned long long)wish->size_b, (unsigned long long)ways, line_b);
    l->ways = (uint32_t)ways;
    l->sets = lines / ways;
    l->mask = (l->sets & (l->sets - 1)) == 0 ? l->sets - 1 : 0;
    l->kind = wish->kind;
    if (l->sets == 1 && ways > SEARCHED_MOST)
        l->full = as_cache_full_new(l->ways);
    else
        l->way = as_calloc(l->sets * ways, sizeof *l->way);
    return l->full || l->way ? 0 : as_error_nomem(err, "a cache");
}

int as_cache_new(const struct as_cache_level *level, unsigned n, uint32_t line_b,
                 struct as_cache **out, struct as_error *err)
{
    *out = NULL;
    if (n == 0 || n > AS_CACHE_LEVELS_MOST || line_b == 0 || (line_b & (line_b - 1)) != 0 ||
        level[0].kind == AS_CACHE_VICTIM)
        return as_error_set(err, AS_ERR_USAGE,
                            "cache: %u levels with lines of %u bytes cannot be modelled; use 1 to "
                            "%d levels and a power of two",
                            n, line_b, AS_CACHE_LEVELS_MOST);
    struct as_cache *cache = as_calloc(1, sizeof *cache);
    int rc = cache ? 0 : as_error_nomem(err, "a cache");
    for (unsigned k = 0; rc == 0 && k < n; k++) {
        cache->n = k + 1;
        rc = make_level(&cache->level[k], &level[k], line_b, err);
    }
    if (rc == 0)
        *out = cache;
    else
        as_cache_free(&cache);
    return rc;
}

void as_cache_free(struct as_cache **cache)
{
    struct as_cache *c = *cache;
    for (unsigned k = 0; c && k < c->n; k++) {
        as_cache_full_free(&c->level[k].full);
        as_free(c->level[k].way);
    }
    as_free(c);
    *cache = NULL;
}
