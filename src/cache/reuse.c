/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reuse distances. Each sampled line has the time of its last access. A Fenwick tree counts the
 * lines by that time. When the times run out, all lines get new ones. The tree has at most four
 * times as many entries as lines (Olken 1981, Almasi 2002).
 */
#include "cache/cache.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { FIRST_TIMES = 1 << 12 };

struct reuse_slot {
    uint64_t line; /* line + 1; 0 = empty */
    uint32_t time;
};

struct as_reuse {
    unsigned shift;
    struct reuse_slot *slot; /* open addressing; at most half of the slots are used */
    uint64_t slots, used;
    uint32_t *tree; /* 1-based Fenwick tree of the lines by time of last access */
    uint64_t *line; /* by time: line + 1, or 0 */
    uint32_t times, now;
};

/* Fibonacci hashing: the high bits choose the sample, the bits below them the slot. */
static uint64_t hash_line(uint64_t line)
{
    line ^= line >> 29;
    return line * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t slot_of_line(const struct as_reuse *r, uint64_t line)
{
    uint64_t at = (hash_line(line) << r->shift) >> 20;
    at &= r->slots - 1;
    while (r->slot[at].line && r->slot[at].line != line + 1)
        at = (at + 1) & (r->slots - 1);
    return at;
}

static void tree_add(struct as_reuse *r, uint32_t time, int n)
{
    for (uint64_t t = (uint64_t)time + 1; t <= r->times; t += t & -t)
        r->tree[t] = (uint32_t)((int64_t)r->tree[t] + n);
}

/* Returns the number of lines with a last access at or before `time`. */
static uint64_t tree_sum(const struct as_reuse *r, uint32_t time)
{
    uint64_t sum = 0;
    for (uint64_t t = (uint64_t)time + 1; t > 0; t -= t & -t)
        sum += r->tree[t];
    return sum;
}

static int grow_slots(struct as_reuse *r)
{
    const struct as_reuse old = *r;
    r->slots = old.slots ? 2 * old.slots : FIRST_TIMES;
    r->slot = as_calloc(r->slots, sizeof *r->slot);
    if (!r->slot) {
        r->slot = old.slot;
        r->slots = old.slots;
        return -1;
    }
    for (uint64_t i = 0; i < old.slots; i++)
        if (old.slot[i].line)
            r->slot[slot_of_line(r, old.slot[i].line - 1)] = old.slot[i];
    as_free(old.slot);
    return 0;
}

/* Renumbers the times in use from 0. Returns -1 without memory. */
static int renumber_times(struct as_reuse *r)
{
    uint32_t n = 0;
    const uint64_t wanted = 2 * r->used > FIRST_TIMES ? 2 * r->used : FIRST_TIMES;
    if (wanted > UINT32_MAX / 4)
        return -1;
    const uint32_t times = (uint32_t)wanted * 2;
    uint32_t *tree = as_calloc((size_t)times + 1, sizeof *tree);
    uint64_t *line = as_calloc(times, sizeof *line);
    if (!tree || !line) {
        as_free(tree);
        as_free(line);
        return -1;
    }
    for (uint32_t t = 0; t < r->now; t++) {
        if (!r->line[t])
            continue;
        line[n] = r->line[t];
        r->slot[slot_of_line(r, r->line[t] - 1)].time = n++;
    }
    as_free(r->tree);
    as_free(r->line);
    r->tree = tree;
    r->line = line;
    r->times = times;
    r->now = n;
    for (uint32_t t = 0; t < n; t++)
        tree_add(r, t, 1);
    return 0;
}

int as_reuse_new(unsigned shift, struct as_reuse **out, struct as_error *err)
{
    struct as_reuse *r = as_calloc(1, sizeof *r);
    *out = r;
    if (!r)
        return as_error_nomem(err, "reuse distances");
    r->shift = shift < 20 ? shift : 20;
    if (grow_slots(r) == 0 && renumber_times(r) == 0)
        return 0;
    as_reuse_free(out);
    return as_error_nomem(err, "reuse distances");
}

void as_reuse_free(struct as_reuse **reuse)
{
    struct as_reuse *r = *reuse;
    if (r) {
        as_free(r->slot);
        as_free(r->tree);
        as_free(r->line);
    }
    as_free(r);
    *reuse = NULL;
}

static void set_time(struct as_reuse *r, uint64_t at)
{
    r->slot[at].time = r->now;
    r->line[r->now] = r->slot[at].line;
    tree_add(r, r->now, 1);
    r->now++;
}

uint64_t as_reuse_access(struct as_reuse *r, uint64_t line)
{
    if (r->shift && hash_line(line) >> (64 - r->shift))
        return AS_REUSE_SKIPPED;
    if ((r->now == r->times && renumber_times(r) < 0) ||
        (2 * (r->used + 1) > r->slots && grow_slots(r) < 0))
        return AS_REUSE_NO_SPACE;
    const uint64_t at = slot_of_line(r, line);
    if (!r->slot[at].line) {
        r->slot[at].line = line + 1;
        r->used++;
        set_time(r, at);
        return AS_REUSE_COLD;
    }
    const uint32_t last = r->slot[at].time;
    const uint64_t since = r->used - tree_sum(r, last);
    tree_add(r, last, -1);
    r->line[last] = 0;
    set_time(r, at);
    return since << r->shift;
}

/* ---- Curves --------------------------------------------------------------------------------- */

/* Returns the bin of a distance: one per distance below AS_REUSE_STEPS, then AS_REUSE_STEPS per
 * power of two. */
static unsigned bin_of_distance(uint64_t distance)
{
    if (distance < AS_REUSE_STEPS)
        return (unsigned)distance;
    const unsigned octave = 63u - (unsigned)__builtin_clzll(distance);
    const unsigned step = (unsigned)(distance >> (octave - 3)) & (AS_REUSE_STEPS - 1);
    const unsigned bin = (octave - 2) * AS_REUSE_STEPS + step;
    return bin < AS_REUSE_BINS ? bin : AS_REUSE_BINS - 1;
}

/* Returns the smallest distance of a bin. */
static double start_of_bin(unsigned bin)
{
    if (bin < AS_REUSE_STEPS)
        return bin;
    const unsigned octave = bin / AS_REUSE_STEPS + 2;
    return ldexp(AS_REUSE_STEPS + bin % AS_REUSE_STEPS, (int)octave - 3);
}

void as_reuse_curve_add(struct as_reuse_curve *curve, uint64_t distance, double weight)
{
    if (distance == AS_REUSE_SKIPPED || distance == AS_REUSE_NO_SPACE)
        return;
    if (distance == AS_REUSE_COLD)
        curve->cold += weight;
    else
        curve->near[bin_of_distance(distance)] += weight;
}

double as_reuse_miss_share(const struct as_reuse_curve *curve, double lines)
{
    double all = curve->cold, missed = curve->cold;
    for (unsigned b = 0; b < AS_REUSE_BINS; b++) {
        const double start = start_of_bin(b), end = start_of_bin(b + 1);
        all += curve->near[b];
        if (start >= lines)
            missed += curve->near[b];
        else if (end > lines)
            missed += curve->near[b] * (end - lines) / (end - start);
    }
    return all > 0 ? missed / all : (double)NAN;
}
