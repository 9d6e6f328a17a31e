/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes depth-first order, reversal and dominators. forest.c computes the loop nesting forest.
 */
#include "code/graph.h"

#include <string.h>

#include "base/error.h"
#include "code/order.h"

int as_graph_reverse(const struct as_graph *graph, struct as_arena *arena, struct as_graph *out)
{
    uint32_t n = graph->nodes;
    uint32_t edges = graph->first[n];
    uint32_t *first = as_arena_array(arena, uint32_t, (size_t)n + 2);
    uint32_t *to = as_arena_fresh(arena, uint32_t, (size_t)edges + 1);
    if (!first || !to)
        return AS_ERR_NOMEM;
    for (uint32_t e = 0; e < edges; e++)
        first[graph->to[e] + 2]++;
    for (uint32_t v = 2; v < n + 2; v++)
        first[v] += first[v - 1];
    /* first[v + 1] is the fill position of v; after filling it is the start of v + 1. */
    for (uint32_t v = 0; v < n; v++) {
        for (uint32_t e = graph->first[v]; e < graph->first[v + 1]; e++)
            to[first[graph->to[e] + 1]++] = v;
    }
    *out = (struct as_graph){.nodes = n, .first = first, .to = to};
    return 0;
}

int as_graph_order(const struct as_graph *graph, uint32_t entry, struct as_arena *arena,
                   struct as_graph_order *out)
{
    uint32_t n = graph->nodes;
    uint32_t *all = as_arena_fresh(arena, uint32_t, 8 * (size_t)n);
    if (!all)
        return AS_ERR_NOMEM;
    struct as_graph_order order = {.pre = all,
                                   .post = all + n,
                                   .last = all + 2 * (size_t)n,
                                   .parent = all + 3 * (size_t)n,
                                   .by_pre = all + 4 * (size_t)n,
                                   .by_post = all + 5 * (size_t)n};
    uint32_t *stack = all + 6 * (size_t)n;
    uint32_t *next = all + 7 * (size_t)n;
    memset(all, 0xff, sizeof *all * 2 * n); /* pre and post */
    uint32_t depth = 0;
    uint32_t done = 0;
    stack[depth++] = entry;
    next[entry] = graph->first[entry];
    order.pre[entry] = order.parent[0] = 0;
    order.by_pre[order.reached++] = entry;
    while (depth) {
        uint32_t v = stack[depth - 1];
        if (next[v] < graph->first[v + 1]) {
            uint32_t w = graph->to[next[v]++];
            if (order.pre[w] != AS_GRAPH_NONE) {
                order.cyclic |= order.post[w] == AS_GRAPH_NONE;
                continue;
            }
            next[w] = graph->first[w];
            order.pre[w] = order.reached;
            order.parent[order.reached] = order.pre[v];
            order.by_pre[order.reached++] = w;
            stack[depth++] = w;
            continue;
        }
        order.last[v] = order.reached - 1;
        order.post[v] = done;
        order.by_post[done++] = v;
        depth--;
    }
    *out = order;
    return 0;
}

/* ---- Dominators, on preorder numbers ----------------------------------------------------- */

struct semi_nca {
    uint32_t *ancestor; /* tree parent, shortened by compression */
    uint32_t *label;    /* vertex with the lowest semidominator on the compressed path */
    uint32_t *semi;
    uint32_t *path;
};

/* Returns the vertex with the lowest semidominator on the path from `v` up to the last linked
 * vertex `from`. */
static uint32_t least_semidominator(struct semi_nca *s, uint32_t v, uint32_t from)
{
    uint32_t depth = 0;
    if (s->ancestor[v] < from)
        return s->label[v];
    for (; s->ancestor[v] >= from; v = s->ancestor[v])
        s->path[depth++] = v;
    uint32_t best = s->label[v];
    uint32_t top = s->ancestor[v];
    while (depth) {
        v = s->path[--depth];
        s->ancestor[v] = top;
        if (s->semi[best] < s->semi[s->label[v]])
            s->label[v] = best;
        else
            best = s->label[v];
    }
    return best;
}

int as_graph_dominate(const struct as_graph *back, const struct as_graph_order *order,
                      struct as_arena *arena, uint32_t *idom)
{
    const uint32_t n = order->reached;
    uint32_t *all = as_arena_fresh(arena, uint32_t, 4 * (size_t)n);
    if (!all)
        return AS_ERR_NOMEM;
    struct semi_nca s = {.ancestor = all,
                         .label = all + n,
                         .semi = all + 2 * (size_t)n,
                         .path = all + 3 * (size_t)n};
    memcpy(s.ancestor, order->parent, sizeof *s.ancestor * n);
    for (uint32_t v = 0; v < n; v++)
        s.label[v] = s.semi[v] = v;
    for (uint32_t w = n; w-- > 1;) {
        uint32_t node = order->by_pre[w];
        uint32_t least = order->parent[w];
        for (uint32_t e = back->first[node]; e < back->first[node + 1]; e++) {
            uint32_t from = order->pre[back->to[e]];
            if (from == AS_GRAPH_NONE)
                continue;
            uint32_t semi = s.semi[least_semidominator(&s, from, w + 1)];
            least = semi < least ? semi : least;
        }
        s.semi[w] = least;
    }
    /* The dominator is the nearest common ancestor of the tree parent and the semidominator. */
    uint32_t *dominator = s.path;
    memset(idom, 0xff, sizeof *idom * back->nodes);
    dominator[0] = 0;
    for (uint32_t w = 1; w < n; w++) {
        uint32_t v = order->parent[w];
        while (v > s.semi[w])
            v = dominator[v];
        dominator[w] = v;
        idom[order->by_pre[w]] = order->by_pre[v];
    }
    return 0;
}

int as_graph_dominators(const struct as_graph *graph, uint32_t entry, struct as_arena *arena,
                        uint32_t *idom)
{
    struct as_graph_order order;
    struct as_graph back;
    AS_TRY(as_graph_order(graph, entry, arena, &order));
    AS_TRY(as_graph_reverse(graph, arena, &back));
    return as_graph_dominate(&back, &order, arena, idom);
}

/* Makes a copy of `graph` with one more node, the virtual exit, after all nodes
 * without successors. */
static int add_exit(const struct as_graph *graph, uint32_t ends, struct as_arena *arena,
                    struct as_graph *out)
{
    const uint32_t n = graph->nodes;
    uint32_t *first = as_arena_fresh(arena, uint32_t, (size_t)n + 2);
    uint32_t *to = as_arena_fresh(arena, uint32_t, (size_t)graph->first[n] + ends + 1);
    uint32_t at = 0;
    if (!first || !to)
        return AS_ERR_NOMEM;
    for (uint32_t v = 0; v < n; v++) {
        first[v] = at;
        for (uint32_t e = graph->first[v]; e < graph->first[v + 1]; e++)
            to[at++] = graph->to[e];
        if (first[v] == at)
            to[at++] = n;
    }
    first[n] = first[n + 1] = at;
    *out = (struct as_graph){.nodes = n + 1, .first = first, .to = to};
    return 0;
}

int as_graph_post_dominate(const struct as_graph *graph, const struct as_graph *back,
                           struct as_arena *arena, uint32_t *ipdom)
{
    /* Finds dominators of the reversed graph from the virtual exit. */
    uint32_t n = graph->nodes;
    uint32_t ends = 0;
    for (uint32_t v = 0; v < n; v++)
        ends += graph->first[v] == graph->first[v + 1];
    uint32_t *first = as_arena_fresh(arena, uint32_t, (size_t)n + 2);
    uint32_t *to = as_arena_fresh(arena, uint32_t, (size_t)graph->first[n] + ends + 1);
    uint32_t *idom = as_arena_fresh(arena, uint32_t, (size_t)n + 1);
    if (!first || !to || !idom)
        return AS_ERR_NOMEM;
    memcpy(first, back->first, sizeof *first * (n + 1));
    memcpy(to, back->to, sizeof *to * graph->first[n]);
    first[n + 1] = first[n];
    for (uint32_t v = 0; v < n; v++) {
        if (graph->first[v] == graph->first[v + 1])
            to[first[n + 1]++] = v;
    }
    struct as_graph reversed = {.nodes = n + 1, .first = first, .to = to}, with_exit;
    struct as_graph_order order;
    AS_TRY(as_graph_order(&reversed, n, arena, &order));
    AS_TRY(add_exit(graph, ends, arena, &with_exit));
    AS_TRY(as_graph_dominate(&with_exit, &order, arena, idom));
    for (uint32_t v = 0; v < n; v++)
        ipdom[v] = idom[v] == n ? AS_GRAPH_NONE : idom[v];
    return 0;
}

int as_graph_post_dominators(const struct as_graph *graph, struct as_arena *arena, uint32_t *ipdom)
{
    struct as_graph back;
    AS_TRY(as_graph_reverse(graph, arena, &back));
    return as_graph_post_dominate(graph, &back, arena, ipdom);
}
