/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges loops of an interpreter that its source does not have. With computed gotos, every
 * instruction of the interpreted program ends in a jump by the same table. The same holds if the
 * compiler copies the jump of a switch to the end of each case. So each case can lead to each other
 * case. The search finds hundreds of nested loops in an arbitrary order where the source has one.
 *
 * One of two signs marks such a loop. First, two jumps use the same table: one is in the loop, one
 * in the loop around it. Second, the loop has all the jumps and several entries. In this case the
 * jumps also lead to the header of the loop around it.
 */
#include <string.h>

#include "base/index.h"
#include "base/sort.h"
#include "code/nest.h"

struct table_jumps {
    const struct as_flow *flow;
    struct as_sort_key *jump; /* blocks that end in a jump by a table, sorted by table */
    size_t n;
};

static bool ends_in_table(const struct as_flow *flow, const struct as_flow_block *block)
{
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edges; e++)
        if (flow->edge[e].kind != AS_EDGE_TABLE)
            return false;
    return block->edges > 1;
}

/* Returns a hash of the targets. Jumps by the same table have the same targets in
 * the same order. */
static uint64_t hash_targets(const struct as_flow *flow, const struct as_flow_block *block)
{
    uint64_t hash = block->edges;
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edges; e++)
        hash = as_hash_mix(hash, flow->edge[e].to);
    return hash;
}

struct merging {     /* Arrays by loop. */
    uint32_t *count; /* jumps of the current group in the loop */
    uint32_t *stays; /* the loop itself, or the loop that it becomes part of */
    bool *gone;
};

static bool leads_to(const struct as_flow *flow, uint32_t jump, uint32_t target)
{
    const struct as_flow_block *block = &flow->block[jump];
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edges; e++)
        if (flow->edge[e].to == target)
            return true;
    return false;
}

/* Counts the jumps of the group in the loops around them and merges loops. Returns true if a loop
 * is gone. */
static bool merge_group(const struct table_jumps *t, size_t first, size_t end, struct as_nest *nest,
                        struct merging *m)
{
    uint32_t *count = m->count;
    bool any = false;
    memset(count, 0, nest->loops * sizeof *count);
    for (size_t i = first; i < end; i++)
        if (nest->loop_of[t->jump[i].at] != AS_NONE)
            count[nest->loop_of[t->jump[i].at]]++;
    for (uint32_t l = nest->loops; l-- > 0;) /* inner loops come after outer ones */
        if (nest->loop[l].parent != AS_NONE)
            count[nest->loop[l].parent] += count[l];
    for (uint32_t l = 0; l < nest->loops; l++) {
        const uint32_t parent = nest->loop[l].parent;
        const uint32_t outer = parent == AS_NONE ? parent : m->stays[parent];
        if (outer != AS_NONE && count[l] &&
            (count[outer] > count[l] ||
             (count[l] > 1 && nest->loop[l].bits & AS_LOOP_IRREDUCIBLE &&
              leads_to(t->flow, t->jump[first].at, nest->loop[outer].header))))
            m->gone[l] = any = true;
        m->stays[l] = m->gone[l] ? outer : l;
    }
    return any;
}

static void drop_merged_loops(const struct as_flow *flow, struct as_nest *nest,
                              const uint32_t *stays)
{
    for (uint32_t l = 0; l < nest->loops; l++) {
        struct as_nest_loop *loop = &nest->loop[l];
        if (loop->parent != AS_NONE)
            loop->parent = stays[loop->parent];
        if (stays[l] == l)
            continue;
        nest->loop[stays[l]].bits |= AS_LOOP_MERGED;
        loop->header = AS_NONE;
    }
    for (uint32_t v = 0; v < flow->blocks; v++) {
        if (nest->loop_of[v] != AS_NONE)
            nest->loop_of[v] = stays[nest->loop_of[v]];
        if (nest->heads[v] != AS_NONE)
            nest->heads[v] = stays[nest->heads[v]];
    }
}

static int find_tables(const struct as_flow *flow, struct as_arena *arena, struct table_jumps *t)
{
    *t = (struct table_jumps){flow, as_arena_fresh(arena, struct as_sort_key, flow->tables), 0};
    if (!t->jump)
        return AS_ERR_NOMEM;
    for (uint32_t v = 0; v < flow->blocks && t->n < flow->tables; v++)
        if (ends_in_table(flow, &flow->block[v]))
            t->jump[t->n++] = (struct as_sort_key){hash_targets(flow, &flow->block[v]), v};
    return as_sort_keys(t->jump, t->n);
}

int as_nest_merge_dispatch(const struct as_flow *flow, struct as_arena *arena, struct as_nest *nest,
                           bool *any)
{
    struct table_jumps t;
    *any = false;
    if (flow->tables < 2)
        return 0;
    AS_TRY(find_tables(flow, arena, &t));
    struct merging m = {as_arena_fresh(arena, uint32_t, nest->loops),
                        as_arena_fresh(arena, uint32_t, nest->loops),
                        as_arena_array(arena, bool, nest->loops)};
    if (!m.count || !m.stays || !m.gone)
        return AS_ERR_NOMEM;
    for (size_t first = 0, end; first < t.n; first = end) {
        for (end = first + 1; end < t.n && t.jump[end].key == t.jump[first].key;)
            end++;
        if (end - first > 1)
            *any |= merge_group(&t, first, end, nest, &m);
    }
    if (*any)
        drop_merged_loops(flow, nest, m.stays);
    return 0;
}
