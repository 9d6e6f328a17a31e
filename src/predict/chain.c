/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the limiting recurrence: the cycle of edges with the highest ratio of latency to iterations
 * (RecMII of modulo scheduling; Rau, "Iterative modulo scheduling", 1996). The search uses longest
 * paths with the current ratio subtracted from each edge (Lawler, 1976). A cycle that is still
 * positive has a higher ratio. Edges within an iteration go forward, so one round is one pass over
 * the operations.
 */
#include "predict/internal.h"

struct chain_search {
    const struct as_piece_of_code *block;
    double *start;    /* by operation */
    uint32_t *parent; /* edge that set the start */
    uint32_t *mark;
    uint32_t *order; /* edges sorted by their target operation */
};

#define NO_EDGE UINT32_MAX

static bool push_starts(struct chain_search *s, double ratio)
{
    bool changed = false;
    for (size_t k = 0; k < s->block->edge.n; k++) {
        const uint32_t at = s->order[k];
        const struct as_dependence_edge *e = &s->block->edge.at[at];
        const double start = s->start[e->from] + (double)e->weight - ratio * e->distance;
        if (start > s->start[e->to] + 1e-6) {
            s->start[e->to] = start;
            s->parent[e->to] = at;
            changed = true;
        }
    }
    return changed;
}

/* Finds a cycle among the parent edges. Sets `on` to an operation of the cycle. Returns its ratio
 * in cycles per iteration, or -1 if there is none. */
static double cycle_among(struct chain_search *s, uint32_t *on)
{
    for (uint32_t i = 0; i < s->block->op_n; i++)
        s->mark[i] = 0;
    for (uint32_t root = 0; root < s->block->op_n; root++) {
        uint32_t i = root;
        while (!s->mark[i] && s->parent[i] != NO_EDGE) {
            s->mark[i] = root + 1;
            i = s->block->edge.at[s->parent[i]].from;
        }
        if (s->mark[i] != root + 1 || s->parent[i] == NO_EDGE)
            continue;
        double weight = 0, distance = 0;
        uint32_t at = i;
        do {
            const struct as_dependence_edge *e = &s->block->edge.at[s->parent[at]];
            weight += (double)e->weight;
            distance += e->distance;
            at = e->from;
        } while (at != i);
        *on = i;
        return distance > 0 ? weight / distance : -1;
    }
    return -1;
}

static void store_chain_cycle(const struct chain_search *s, uint32_t on, uint32_t *edge,
                              size_t *edge_n)
{
    uint32_t at = on;
    *edge_n = 0;
    do {
        edge[(*edge_n)++] = s->parent[at];
        at = s->block->edge.at[s->parent[at]].from;
    } while (at != on && *edge_n < s->block->op_n);
    for (size_t i = 0, j = *edge_n - 1; i < j; i++, j--) {
        const uint32_t keep = edge[i];
        edge[i] = edge[j];
        edge[j] = keep;
    }
}

/* Sorts the edges by target with a counting sort. Returns false if memory is short. */
static bool order_edges(struct chain_search *s, struct as_arena *arena)
{
    const size_t n = s->block->edge.n, ops = s->block->op_n;
    uint32_t *first = as_arena_array(arena, uint32_t, ops + 1);
    s->order = as_arena_array(arena, uint32_t, n + 1);
    if (!first || !s->order)
        return false;
    for (size_t k = 0; k < n; k++)
        first[s->block->edge.at[k].to + 1]++;
    for (size_t i = 0; i < ops; i++)
        first[i + 1] += first[i];
    for (size_t k = 0; k < n; k++)
        s->order[first[s->block->edge.at[k].to]++] = (uint32_t)k;
    return true;
}

double as_chain_longest(const struct as_piece_of_code *block, struct as_arena *arena,
                        uint32_t *edge, size_t *edge_n)
{
    struct chain_search s = {.block = block,
                             .start = as_arena_array(arena, double, block->op_n),
                             .parent = as_arena_array(arena, uint32_t, block->op_n),
                             .mark = as_arena_array(arena, uint32_t, block->op_n)};
    double ratio = 0;
    *edge_n = 0;
    if (!s.start || !s.parent || !s.mark || !order_edges(&s, arena))
        return -1;
    for (uint32_t i = 0; i < block->op_n; i++)
        s.parent[i] = NO_EDGE;
    for (uint32_t round = 0; round < 20 * block->op_n + 100 && push_starts(&s, ratio); round++) {
        uint32_t on = 0;
        const double found = cycle_among(&s, &on);
        if (found <= ratio + 1e-9)
            continue;
        ratio = found;
        store_chain_cycle(&s, on, edge, edge_n);
        for (uint32_t i = 0; i < block->op_n; i++) {
            s.parent[i] = NO_EDGE;
            s.start[i] = 0;
        }
    }
    return ratio;
}
