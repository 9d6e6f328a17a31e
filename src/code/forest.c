/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the loop nesting forest after Havlak (1997) on preorder numbers. Nodes are visited from
 * the last to the first, and each loop collapses into its header. An edge that enters a loop beside
 * its header waits for the lowest common ancestor of its ends. This is the first header with a
 * search that can find both ends. Passing such an edge from loop to loop would take edges times
 * depth. Source: Ramalingam, "Identifying loops in almost linear time", ACM TOPLAS 21(2), 1999.
 */
#include "code/graph.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "code/order.h"

/* An edge. It is in the list of its common ancestor first. Later it is in the list of the node that
 * its target collapsed into. */
struct side {
    uint32_t from, to, next;
};

/* All arrays are by preorder number. */
struct forest {
    struct as_graph_order order;
    struct as_graph back;
    /* Header of the innermost loop strictly around the node, or AS_GRAPH_NONE. */
    uint32_t *header;
    /* Union-find: the header that the node collapsed into, or the node itself. */
    uint32_t *collapsed;
    bool *is_header;
    bool *irreducible;
    uint32_t *stamp;       /* last header with a search that found the node */
    AS_VEC(uint32_t) body; /* nodes of the current loop, also the worklist */
    /* Per irreducible loop: a loop around it, with only irreducible loops between, or
     * AS_GRAPH_NONE. */
    uint32_t *beyond;
    AS_VEC(struct side) side; /* edges between nodes without an ancestor relation */
    uint32_t *waiting;        /* per ancestor: first waiting edge, or AS_GRAPH_NONE */
    /* Per node: first such edge into the node or into nodes that collapsed into it, or
     * AS_GRAPH_NONE. */
    uint32_t *extra;
};

static uint32_t find_collapsed(uint32_t *collapsed, uint32_t v)
{
    while (collapsed[v] != v) {
        collapsed[v] = collapsed[collapsed[v]];
        v = collapsed[v];
    }
    return v;
}

/* Returns true if `w` is an ancestor of `v` in the depth-first tree, or `v` itself. */
static bool is_ancestor(const struct forest *f, uint32_t w, uint32_t v)
{
    return w <= v && v <= f->order.last[f->order.by_pre[w]];
}

static int add_to_body(struct forest *f, uint32_t w, uint32_t v)
{
    if (v == w || f->stamp[v] == w)
        return 0;
    f->stamp[v] = w;
    return as_vec_push(&f->body, v);
}

/* Adds the sources of the edges into body node `x` to the body: the tree edge and the edges that
 * waited. `x` is not `w`. */
static int grow_from(struct forest *f, uint32_t w, uint32_t x)
{
    AS_TRY(add_to_body(f, w, find_collapsed(f->collapsed, f->order.parent[x])));
    for (uint32_t e = f->extra[x]; e != AS_GRAPH_NONE; e = f->side.at[e].next)
        AS_TRY(add_to_body(f, w, find_collapsed(f->collapsed, f->side.at[e].from)));
    return 0;
}

/* Returns the next loop outside of loop `l`, or one further out with only irreducible loops
 * between. */
static uint32_t outwards(const struct forest *f, uint32_t l)
{
    return f->beyond[l] != AS_GRAPH_NONE ? f->beyond[l] : f->header[l];
}

/* Marks all loops found around `to` as irreducible: an edge from outside enters each beside its
 * header. */
static void mark_entered(struct forest *f, uint32_t to)
{
    uint32_t l = f->header[to];
    while (l != AS_GRAPH_NONE) {
        uint32_t next = outwards(f, l);
        if (f->irreducible[l] && next != AS_GRAPH_NONE && f->irreducible[next] &&
            outwards(f, next) != AS_GRAPH_NONE)
            f->beyond[l] = outwards(f, next);
        f->irreducible[l] = true;
        l = next;
    }
}

/* Handles edges with the lowest common ancestor `w`. */
static void end_waiting(struct forest *f, uint32_t w)
{
    for (uint32_t e = f->waiting[w], next; e != AS_GRAPH_NONE; e = next) {
        assert(f->side.at && e < f->side.n);
        struct side *edge = &f->side.at[e];
        const uint32_t into = find_collapsed(f->collapsed, edge->to);
        next = edge->next;
        mark_entered(f, edge->to);
        edge->next = f->extra[into];
        f->extra[into] = e;
    }
}

static int collapse_loop(struct forest *f, uint32_t w)
{
    f->body.n = 0;
    uint32_t node = f->order.by_pre[w];
    for (uint32_t e = f->back.first[node]; e < f->back.first[node + 1]; e++) {
        uint32_t from = f->order.pre[f->back.to[e]];
        if (from == AS_GRAPH_NONE || !is_ancestor(f, w, from))
            continue;
        f->is_header[w] = true;
        AS_TRY(add_to_body(f, w, find_collapsed(f->collapsed, from)));
    }
    for (size_t i = 0; i < f->body.n; i++)
        AS_TRY(grow_from(f, w, f->body.at[i]));
    for (size_t i = 0; i < f->body.n; i++) {
        f->header[f->body.at[i]] = w;
        f->collapsed[f->body.at[i]] = w;
    }
    return 0;
}

static int forest_init(struct forest *f, const struct as_graph *back,
                       const struct as_graph_order *order, struct as_arena *arena)
{
    const uint32_t n = order->reached;
    uint32_t *all = as_arena_fresh(arena, uint32_t, 6 * (size_t)n);
    *f = (struct forest){.order = *order, .back = *back};
    f->is_header = as_arena_array(arena, bool, n);
    f->irreducible = as_arena_array(arena, bool, n);
    if (!all || !f->is_header || !f->irreducible)
        return AS_ERR_NOMEM;
    memset(all, 0xff, sizeof *all * 5 * n);
    f->header = all;
    f->stamp = all + n;
    f->extra = all + 2 * (size_t)n;
    f->waiting = all + 3 * (size_t)n;
    f->beyond = all + 4 * (size_t)n;
    f->collapsed = all + 5 * (size_t)n;
    for (uint32_t v = 0; v < n; v++)
        f->collapsed[v] = v;
    return 0;
}

/*
 * Lists edges that are neither tree edges nor back edges. The lists are by the lowest common
 * ancestor of the edge's ends (Tarjan's on-line algorithm). When the search leaves the source, it
 * has left the target before. So the lowest ancestor of the target that the search has not left is
 * also an ancestor of the source.
 */
static int find_side_edges(struct forest *f, const struct as_graph *graph)
{
    uint32_t *top = f->collapsed; /* borrowed as a second union-find; restored at the end */
    for (uint32_t i = 0; i < f->order.reached; i++) {
        const uint32_t node = f->order.by_post[i], from = f->order.pre[node];
        for (uint32_t e = graph->first[node]; e < graph->first[node + 1]; e++) {
            const uint32_t to = f->order.pre[graph->to[e]];
            if (is_ancestor(f, to, from) || f->order.parent[to] == from)
                continue;
            const uint32_t both = find_collapsed(top, to);
            AS_TRY(as_vec_push(&f->side, (struct side){from, to, f->waiting[both]}));
            f->waiting[both] = (uint32_t)f->side.n - 1;
        }
        top[from] = f->order.parent[from];
    }
    for (uint32_t v = 0; v < f->order.reached; v++)
        top[v] = v;
    return 0;
}

static int forest_result(const struct forest *f, const struct as_graph *graph,
                         struct as_arena *arena, struct as_graph_loops *out)
{
    uint32_t n = f->order.reached;
    uint32_t loops = 0;
    for (uint32_t v = 0; v < n; v++)
        loops += f->is_header[v];
    uint32_t *number = as_arena_array(arena, uint32_t, n); /* loop number of a header */
    out->header = as_arena_array(arena, uint32_t, loops);
    out->parent = as_arena_array(arena, uint32_t, loops);
    out->irreducible = as_arena_array(arena, bool, loops);
    out->loop_of = as_arena_array(arena, uint32_t, graph->nodes);
    if (!number || !out->header || !out->parent || !out->irreducible || !out->loop_of)
        return AS_ERR_NOMEM;
    memset(out->loop_of, 0xff, sizeof *out->loop_of * graph->nodes);
    out->loops = 0;
    /* A header's own header has a smaller preorder number, so its loop has a number already. */
    for (uint32_t v = 0; v < n; v++) {
        uint32_t around = f->header[v] == AS_GRAPH_NONE ? AS_GRAPH_NONE : number[f->header[v]];
        if (f->is_header[v]) {
            number[v] = out->loops++;
            out->header[number[v]] = f->order.by_pre[v];
            out->parent[number[v]] = around;
            out->irreducible[number[v]] = f->irreducible[v];
            around = number[v];
        }
        out->loop_of[f->order.by_pre[v]] = around;
    }
    return 0;
}

int as_graph_make_forest(const struct as_graph *graph, const struct as_graph *back,
                         const struct as_graph_order *order, struct as_arena *arena,
                         struct as_graph_loops *out)
{
    struct forest f;
    int rc = forest_init(&f, back, order, arena);
    if (rc == 0)
        rc = find_side_edges(&f, graph);
    for (uint32_t w = rc < 0 ? 0 : f.order.reached; w-- > 0 && rc == 0;) {
        end_waiting(&f, w);
        rc = collapse_loop(&f, w);
    }
    if (rc == 0)
        rc = forest_result(&f, graph, arena, out);
    as_vec_fini(&f.body);
    as_vec_fini(&f.side);
    return rc;
}

int as_graph_find_loops(const struct as_graph *graph, uint32_t entry, struct as_arena *arena,
                        struct as_graph_loops *out)
{
    struct as_graph_order order;
    struct as_graph back;
    AS_TRY(as_graph_order(graph, entry, arena, &order));
    AS_TRY(as_graph_reverse(graph, arena, &back));
    return as_graph_make_forest(graph, &back, &order, arena, out);
}
