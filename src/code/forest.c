/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loop nesting forest after Havlak (1997), on preorder numbers: nodes are visited from the last to
 * the first, each loop collapses into its header, so every node is moved once per nesting level.
 */
#include "code/graph.h"

#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "code/order.h"

/* All arrays are by preorder number. */
struct forest {
    struct as_graph_order order;
    struct as_graph back;
    uint32_t *header;    /* header of the innermost loop strictly around it, or NONE */
    uint32_t *collapsed; /* union-find: the header it was collapsed into, or itself */
    bool *is_header;
    bool *irreducible;
    uint32_t *stamp;             /* last header in whose search it was seen */
    AS_VEC(uint32_t) body;       /* of the loop at hand, as worklist */
    AS_VEC(uint32_t) extra_from; /* edges passed on to an outer header: source .. */
    AS_VEC(uint32_t) extra_next; /* .. and next edge of the same target */
    uint32_t *extra;             /* per node: first such edge or NONE */
};

static uint32_t find(uint32_t *collapsed, uint32_t v)
{
    while (collapsed[v] != v) {
        collapsed[v] = collapsed[collapsed[v]];
        v = collapsed[v];
    }
    return v;
}

/* True when `w` is an ancestor of `v` in the depth-first tree (or `v` itself). */
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

/* An edge from outside the search of `w` into the body: it enters the loop beside the header. */
static int pass_on(struct forest *f, uint32_t w, uint32_t from)
{
    f->irreducible[w] = true;
    AS_TRY(as_vec_push(&f->extra_from, from));
    AS_TRY(as_vec_push(&f->extra_next, f->extra[w]));
    f->extra[w] = (uint32_t)f->extra_from.n - 1;
    return 0;
}

static int follow(struct forest *f, uint32_t w, uint32_t from)
{
    uint32_t y = find(f->collapsed, from);
    return is_ancestor(f, w, y) ? add_to_body(f, w, y) : pass_on(f, w, y);
}

/* Entering edges of body node `x`: real ones that do not come from below it, and passed-on ones. */
static int grow_from(struct forest *f, uint32_t w, uint32_t x)
{
    uint32_t node = f->order.by_pre[x];
    for (uint32_t e = f->back.first[node]; e < f->back.first[node + 1]; e++) {
        uint32_t from = f->order.pre[f->back.to[e]];
        if (from != AS_GRAPH_NONE && !is_ancestor(f, x, from))
            AS_TRY(follow(f, w, from));
    }
    for (uint32_t e = f->extra[x]; e != AS_GRAPH_NONE; e = f->extra_next.at[e])
        AS_TRY(follow(f, w, f->extra_from.at[e]));
    return 0;
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
        AS_TRY(add_to_body(f, w, find(f->collapsed, from)));
    }
    for (size_t i = 0; i < f->body.n; i++)
        AS_TRY(grow_from(f, w, f->body.at[i]));
    for (size_t i = 0; i < f->body.n; i++) {
        f->header[f->body.at[i]] = w;
        f->collapsed[f->body.at[i]] = w;
    }
    return 0;
}

static int forest_init(struct forest *f, const struct as_graph *graph, uint32_t entry,
                       struct as_arena *arena)
{
    *f = (struct forest){0};
    AS_TRY(as_graph_order(graph, entry, arena, &f->order));
    AS_TRY(as_graph_reverse(graph, arena, &f->back));
    uint32_t n = f->order.reached;
    f->header = as_arena_array(arena, uint32_t, n);
    f->collapsed = as_arena_array(arena, uint32_t, n);
    f->stamp = as_arena_array(arena, uint32_t, n);
    f->extra = as_arena_array(arena, uint32_t, n);
    f->is_header = as_arena_array(arena, bool, n);
    f->irreducible = as_arena_array(arena, bool, n);
    if (!f->header || !f->collapsed || !f->stamp || !f->extra || !f->is_header || !f->irreducible)
        return ASSAY_ERR_NOMEM;
    for (uint32_t v = 0; v < n; v++) {
        f->collapsed[v] = v;
        f->header[v] = f->stamp[v] = f->extra[v] = AS_GRAPH_NONE;
    }
    return 0;
}

static int forest_result(const struct forest *f, const struct as_graph *graph,
                         struct as_arena *arena, struct as_graph_loops *out)
{
    uint32_t n = f->order.reached;
    uint32_t loops = 0;
    for (uint32_t v = 0; v < n; v++)
        loops += f->is_header[v];
    uint32_t *number = as_arena_array(arena, uint32_t, n); /* of a header's loop */
    out->header = as_arena_array(arena, uint32_t, loops);
    out->parent = as_arena_array(arena, uint32_t, loops);
    out->irreducible = as_arena_array(arena, bool, loops);
    out->loop_of = as_arena_array(arena, uint32_t, graph->nodes);
    if (!number || !out->header || !out->parent || !out->irreducible || !out->loop_of)
        return ASSAY_ERR_NOMEM;
    memset(out->loop_of, 0xff, sizeof *out->loop_of * graph->nodes);
    out->loops = 0;
    /* A header's own header has a smaller preorder number: its loop is numbered already. */
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

int as_graph_find_loops(const struct as_graph *graph, uint32_t entry, struct as_arena *arena,
                        struct as_graph_loops *out)
{
    struct forest f;
    int rc = forest_init(&f, graph, entry, arena);
    for (uint32_t w = rc < 0 ? 0 : f.order.reached; w-- > 0 && rc == 0;)
        rc = collapse_loop(&f, w);
    if (rc == 0)
        rc = forest_result(&f, graph, arena, out);
    as_vec_fini(&f.body);
    as_vec_fini(&f.extra_from);
    as_vec_fini(&f.extra_next);
    return rc;
}
