/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depth-first order, reversal and dominators. The loop nesting forest stands in forest.c.
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
    uint32_t *to = as_arena_array(arena, uint32_t, (size_t)edges + 1);
    if (!first || !to)
        return ASSAY_ERR_NOMEM;
    for (uint32_t e = 0; e < edges; e++)
        first[graph->to[e] + 2]++;
    for (uint32_t v = 2; v < n + 2; v++)
        first[v] += first[v - 1];
    /* first[v + 1] is the fill mark of v; after filling it is the start of v + 1. */
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
    struct as_graph_order order = {
        .pre = as_arena_array(arena, uint32_t, n),
        .last = as_arena_array(arena, uint32_t, n),
        .post = as_arena_array(arena, uint32_t, n),
        .by_pre = as_arena_array(arena, uint32_t, n),
        .by_post = as_arena_array(arena, uint32_t, n),
    };
    uint32_t *stack = as_arena_array(arena, uint32_t, n);
    uint32_t *next = as_arena_array(arena, uint32_t, n);
    if (!order.pre || !order.last || !order.post || !order.by_pre || !order.by_post || !stack ||
        !next)
        return ASSAY_ERR_NOMEM;
    memset(order.pre, 0xff, sizeof *order.pre * n);
    memset(order.post, 0xff, sizeof *order.post * n);
    uint32_t depth = 0;
    uint32_t done = 0;
    stack[depth++] = entry;
    next[entry] = graph->first[entry];
    order.pre[entry] = 0;
    order.by_pre[order.reached++] = entry;
    while (depth) {
        uint32_t v = stack[depth - 1];
        if (next[v] < graph->first[v + 1]) {
            uint32_t w = graph->to[next[v]++];
            if (order.pre[w] != AS_GRAPH_NONE)
                continue;
            next[w] = graph->first[w];
            order.pre[w] = order.reached;
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

static uint32_t intersect(const uint32_t *idom, const uint32_t *post, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (post[a] < post[b])
            a = idom[a];
        while (post[b] < post[a])
            b = idom[b];
    }
    return a;
}

int as_graph_dominators(const struct as_graph *graph, uint32_t entry, struct as_arena *arena,
                        uint32_t *idom)
{
    struct as_graph_order order;
    struct as_graph back;
    AS_TRY(as_graph_order(graph, entry, arena, &order));
    AS_TRY(as_graph_reverse(graph, arena, &back));
    memset(idom, 0xff, sizeof *idom * graph->nodes);
    idom[entry] = entry;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = order.reached - 1; i-- > 0;) { /* reverse post-order, entry left out */
            uint32_t v = order.by_post[i];
            uint32_t best = AS_GRAPH_NONE;
            for (uint32_t e = back.first[v]; e < back.first[v + 1]; e++) {
                uint32_t p = back.to[e];
                if (idom[p] == AS_GRAPH_NONE)
                    continue;
                best = best == AS_GRAPH_NONE ? p : intersect(idom, order.post, best, p);
            }
            if (best != idom[v]) {
                idom[v] = best;
                changed = true;
            }
        }
    }
    idom[entry] = AS_GRAPH_NONE;
    return 0;
}

int as_graph_post_dominators(const struct as_graph *graph, struct as_arena *arena, uint32_t *ipdom)
{
    /* The reversed graph with one more node, the virtual exit, before all nodes that end. */
    uint32_t n = graph->nodes;
    uint32_t ends = 0;
    for (uint32_t v = 0; v < n; v++)
        ends += graph->first[v] == graph->first[v + 1];
    struct as_graph back;
    AS_TRY(as_graph_reverse(graph, arena, &back));
    uint32_t *first = as_arena_array(arena, uint32_t, (size_t)n + 2);
    uint32_t *to = as_arena_array(arena, uint32_t, (size_t)graph->first[n] + ends + 1);
    uint32_t *idom = as_arena_array(arena, uint32_t, (size_t)n + 1);
    if (!first || !to || !idom)
        return ASSAY_ERR_NOMEM;
    memcpy(first, back.first, sizeof *first * (n + 1));
    memcpy(to, back.to, sizeof *to * graph->first[n]);
    first[n + 1] = first[n];
    for (uint32_t v = 0; v < n; v++) {
        if (graph->first[v] == graph->first[v + 1])
            to[first[n + 1]++] = v;
    }
    struct as_graph reversed = {.nodes = n + 1, .first = first, .to = to};
    AS_TRY(as_graph_dominators(&reversed, n, arena, idom));
    for (uint32_t v = 0; v < n; v++)
        ipdom[v] = idom[v] == n ? AS_GRAPH_NONE : idom[v];
    return 0;
}

bool as_graph_dominates(const uint32_t *idom, uint32_t a, uint32_t b)
{
    while (b != a && b != AS_GRAPH_NONE)
        b = idom[b];
    return b == a;
}
