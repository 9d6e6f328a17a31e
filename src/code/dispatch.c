/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of an interpreter that are none of its source. With computed gotos (or where the compiler
 * copied the jump of a switch to the end of each case) every instruction of the interpreted program
 * ends in a jump by the same table, so that any leads to any: what looks like hundreds of loops one
 * in another, in the order in which they happened to be walked, is one. Such a loop is told by its
 * jumps: one by the same table stands in it and another one in the loop around it, so that it is
 * entered wherever it goes on; or it has all of them, with several entries, and they lead to the
 * header of the loop around it, too.
 */
#include <string.h>

#include "base/index.h"
#include "base/sort.h"
#include "code/nest.h"

struct table_jumps {
    const struct as_flow *flow;
    struct as_sort_key
        *jump; /* blocks that end in jumps by a table, those with the same together */
    size_t n;
};

static bool ends_in_table(const struct as_flow *flow, const struct as_flow_block *block)
{
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edges; e++)
        if (flow->edge[e].kind != ASSAY_EDGE_TABLE)
            return false;
    return block->edges > 1;
}

/* Jumps by the same table have the same targets, in its order. */
static uint64_t hash_targets(const struct as_flow *flow, const struct as_flow_block *block)
{
    uint64_t hash = block->edges;
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edges; e++)
        hash = as_hash_mix(hash, flow->edge[e].to);
    return hash;
}

struct merging {     /* per loop */
    uint32_t *count; /* jumps of the group at hand in it */
    uint32_t *stays; /* itself, or the one that it becomes part of */
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

/* Each jump of the group counts in the loops around it; true where some are gone. */
static bool merge_group(const struct table_jumps *t, size_t first, size_t end, struct as_nest *nest,
                        struct merging *m)
{
    uint32_t *count = m->count;
    bool any = false;
    memset(count, 0, nest->loops * sizeof *count);
    for (size_t i = first; i < end; i++)
        if (nest->loop_of[t->jump[i].at] != ASSAY_NONE)
            count[nest->loop_of[t->jump[i].at]]++;
    for (uint32_t l = nest->loops; l-- > 0;) /* inner loops stand behind outer ones */
        if (nest->loop[l].parent != ASSAY_NONE)
            count[nest->loop[l].parent] += count[l];
    for (uint32_t l = 0; l < nest->loops; l++) {
        const uint32_t parent = nest->loop[l].parent;
        const uint32_t outer = parent == ASSAY_NONE ? parent : m->stays[parent];
        if (outer != ASSAY_NONE && count[l] &&
            (count[outer] > count[l] ||
             (count[l] > 1 && nest->loop[l].bits & ASSAY_LOOP_IRREDUCIBLE &&
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
        if (loop->parent != ASSAY_NONE)
            loop->parent = stays[loop->parent];
        if (stays[l] == l)
            continue;
        nest->loop[stays[l]].bits |= ASSAY_LOOP_MERGED;
        loop->header = ASSAY_NONE;
    }
    for (uint32_t v = 0; v < flow->blocks; v++) {
        if (nest->loop_of[v] != ASSAY_NONE)
            nest->loop_of[v] = stays[nest->loop_of[v]];
        if (nest->heads[v] != ASSAY_NONE)
            nest->heads[v] = stays[nest->heads[v]];
    }
}

static int find_tables(const struct as_flow *flow, struct as_arena *arena, struct table_jumps *t)
{
    *t = (struct table_jumps){flow, as_arena_fresh(arena, struct as_sort_key, flow->tables), 0};
    if (!t->jump)
        return ASSAY_ERR_NOMEM;
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
        return ASSAY_ERR_NOMEM;
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
