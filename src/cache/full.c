/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines are nodes of a ring in the order of use. Node 0 is the head: its `next` is the latest line,
 * its `prev` the oldest. Free nodes are linked by `next`. The table has at least twice as many
 * slots as lines. A search starts at the slot of a hash.
 */
#include "cache/full.h"

#include <assert.h>

#include "base/alloc.h"

struct full_node {
    uint64_t way;
    uint32_t prev, next;
};

struct as_cache_full {
    struct full_node *node; /* lines + 1 nodes */
    uint32_t *slot;         /* numbers of nodes; 0: empty */
    uint32_t mask, unused;  /* slots - 1; first free node, 0: none */
};

static uint32_t home_of_line(const struct as_cache_full *full, uint64_t line)
{
    line ^= line >> 29;
    return (uint32_t)((line * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & full->mask;
}

static uint64_t line_of_node(const struct as_cache_full *full, uint32_t node)
{
    return (full->node[node].way >> 1) - 1;
}

/* Returns the slot of the line, or the empty slot where it belongs. */
static uint32_t find_slot(const struct as_cache_full *full, uint64_t line)
{
    uint32_t at = home_of_line(full, line);
    while (full->slot[at] && line_of_node(full, full->slot[at]) != line)
        at = (at + 1) & full->mask;
    return at;
}

/* Empties a slot, and moves later ones that were pushed past it. */
static void empty_slot(struct as_cache_full *full, uint32_t at)
{
    for (uint32_t from = (at + 1) & full->mask; full->slot[from]; from = (from + 1) & full->mask) {
        const uint32_t home = home_of_line(full, line_of_node(full, full->slot[from]));
        if (((from - home) & full->mask) < ((from - at) & full->mask))
            continue;
        full->slot[at] = full->slot[from];
        at = from;
    }
    full->slot[at] = 0;
}

static void unlink_node(struct as_cache_full *full, uint32_t node)
{
    full->node[full->node[node].prev].next = full->node[node].next;
    full->node[full->node[node].next].prev = full->node[node].prev;
}

static void link_latest(struct as_cache_full *full, uint32_t node)
{
    const uint32_t second = full->node[0].next;
    full->node[node].prev = 0;
    full->node[node].next = second;
    full->node[second].prev = node;
    full->node[0].next = node;
}

bool as_cache_full_touch(struct as_cache_full *full, uint64_t line, uint64_t changed, bool use)
{
    const uint32_t node = full->slot[find_slot(full, line)];
    if (!node)
        return false;
    full->node[node].way |= changed;
    if (use && full->node[0].next != node) {
        unlink_node(full, node);
        link_latest(full, node);
    }
    return true;
}

static uint64_t drop_slot(struct as_cache_full *full, uint32_t at)
{
    const uint32_t node = full->slot[at];
    const uint64_t way = full->node[node].way;
    empty_slot(full, at);
    unlink_node(full, node);
    full->node[node].next = full->unused;
    full->unused = node;
    return way;
}

uint64_t as_cache_full_drop(struct as_cache_full *full, uint64_t line)
{
    const uint32_t at = find_slot(full, line);
    return full->slot[at] ? drop_slot(full, at) : 0;
}

uint64_t as_cache_full_insert(struct as_cache_full *full, uint64_t way)
{
    uint64_t replaced = 0;
    if (!full->unused)
        replaced = drop_slot(full, find_slot(full, line_of_node(full, full->node[0].prev)));
    const uint32_t node = full->unused, at = find_slot(full, (way >> 1) - 1);
    assert(node && !full->slot[at]);
    full->unused = full->node[node].next;
    full->node[node].way = way;
    full->slot[at] = node;
    link_latest(full, node);
    return replaced;
}

struct as_cache_full *as_cache_full_new(uint32_t lines)
{
    struct as_cache_full *full = as_calloc(1, sizeof *full);
    uint32_t slots = 2;
    while (slots / 2 < lines)
        slots *= 2;
    if (!full)
        return NULL;
    full->mask = slots - 1;
    full->node = as_calloc((size_t)lines + 1, sizeof *full->node);
    full->slot = as_calloc(slots, sizeof *full->slot);
    if (!full->node || !full->slot) {
        as_cache_full_free(&full);
        return NULL;
    }
    for (uint32_t n = 1; n <= lines; n++)
        full->node[n].next = n < lines ? n + 1 : 0;
    full->unused = 1;
    return full;
}

void as_cache_full_free(struct as_cache_full **full)
{
    if (*full) {
        as_free((*full)->node);
        as_free((*full)->slot);
    }
    as_free(*full);
    *full = NULL;
}
