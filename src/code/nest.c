/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds dominators and loops of one body. A body with several entries or with unreached code gets a
 * virtual root before all of them.
 */
#include "code/nest.h"

#include <stdlib.h>
#include <string.h>

#include "code/order.h"

/* Max sum of the blocks of all loops, inner loops included, as a multiple of the body's blocks: the
 * mean depth. The constant part allows complete nests of 500 loops. */
#define OUTSIZE_TIMES 16u
#define OUTSIZE_LEAST (UINT64_C(1) << 18)

static int make_graph(const struct as_flow *flow, struct as_arena *arena, struct as_graph *graph,
                      uint32_t *root)
{
    uint32_t n = flow->blocks, roots = 0;
    for (uint32_t v = 0; v < n; v++)
        roots += flow->block[v].is_root;
    uint32_t *first = as_arena_fresh(arena, uint32_t, (size_t)n + 2);
    uint32_t *to = as_arena_fresh(arena, uint32_t, (size_t)flow->edges + roots + 1);
    if (!first || !to)
        return AS_ERR_NOMEM;
    for (uint32_t v = 0; v < n; v++)
        first[v] = flow->block[v].first_edge;
    for (uint32_t e = 0; e < flow->edges; e++)
        to[e] = flow->edge[e].to;
    first[n] = flow->edges;
    *root = flow->entry;
    if (roots > 1 || flow->entry == AS_NONE) {
        *root = n++;
        for (uint32_t v = 0, e = flow->edges; v < flow->blocks; v++) {
            if (flow->block[v].is_root)
                to[e++] = v;
        }
        first[n] = flow->edges + roots;
    }
    *graph = (struct as_graph){.nodes = n, .first = first, .to = to};
    return 0;
}

bool as_nest_holds(const struct as_nest *nest, uint32_t loop, uint32_t block)
{
    const uint32_t depth = nest->loop[loop].depth;
    uint32_t at = nest->loop_of[block];
    while (at != AS_NONE && nest->loop[at].depth > depth)
        at = nest->loop[at].parent;
    return at == loop;
}

/* Drops merged loops and numbers the rest: parents first, siblings by header. */
static int renumber(const struct as_flow *flow, struct as_arena *arena, struct as_nest *nest)
{
    uint32_t n = nest->loops, kept = 0, depth = 0;
    uint32_t *child = as_arena_array(arena, uint32_t, (size_t)n + 1); /* index n is the root */
    uint32_t *sibling = as_arena_array(arena, uint32_t, n);
    uint32_t *number = as_arena_array(arena, uint32_t, n);
    uint32_t *stack = as_arena_array(arena, uint32_t, (size_t)n + 1);
    uint32_t *by_header = as_arena_array(arena, uint32_t, (size_t)flow->blocks + 1);
    struct as_nest_loop *loop = as_arena_array(arena, struct as_nest_loop, (size_t)n + 1);
    if (!child || !sibling || !number || !stack || !by_header || !loop)
        return AS_ERR_NOMEM;
    memset(child, 0xff, sizeof *child * (n + 1));
    memset(by_header, 0xff, sizeof *by_header * flow->blocks);
    for (uint32_t l = 0; l < n; l++) {
        if (nest->loop[l].header != AS_NONE)
            by_header[nest->loop[l].header] = l;
    }
    for (uint32_t v = flow->blocks; v-- > 0;) { /* downwards: each list ends up ascending */
        uint32_t l = by_header[v];
        if (l == AS_NONE)
            continue;
        uint32_t parent = nest->loop[l].parent == AS_NONE ? n : nest->loop[l].parent;
        sibling[l] = child[parent];
        child[parent] = l;
    }
    uint32_t at = child[n];
    while (at != AS_NONE || depth) {
        if (at == AS_NONE) {
            at = sibling[stack[--depth]];
            continue;
        }
        number[at] = kept;
        loop[kept] = nest->loop[at];
        loop[kept].depth = depth + 1;
        if (depth)
            loop[kept].parent = number[stack[depth - 1]];
        kept++;
        stack[depth++] = at;
        at = child[at];
    }
    for (uint32_t v = 0; v < flow->blocks; v++) {
        if (nest->loop_of[v] != AS_NONE)
            nest->loop_of[v] = number[nest->loop_of[v]];
        if (nest->heads[v] != AS_NONE)
            nest->heads[v] = number[nest->heads[v]];
    }
    nest->loop = loop;
    nest->loops = kept;
    return 0;
}

/* Counts the blocks of each loop; `whole` includes those of its inner loops. */
static void count_blocks(const struct as_flow *flow, struct as_nest *nest, bool whole)
{
    for (uint32_t l = 0; l < nest->loops; l++)
        nest->loop[l].blocks = 0;
    for (uint32_t v = 0; v < flow->blocks; v++) {
        if (nest->loop_of[v] != AS_NONE)
            nest->loop[nest->loop_of[v]].blocks++;
    }
    for (uint32_t l = nest->loops; whole && l-- > 0;) { /* inner loops come after outer ones */
        if (nest->loop[l].parent != AS_NONE)
            nest->loop[nest->loop[l].parent].blocks += nest->loop[l].blocks;
    }
}

static int by_size(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/*
 * Marks the largest loops as OUTSIZE if the sum of all loop blocks exceeds a limit. Work on each
 * loop with its inner loops takes the nest's blocks times its depth. The limit is far above
 * compiled sources. Later steps look only at the own blocks of a marked loop. The caller has
 * counted whole loops.
 */
static int mark_outsize(const struct as_flow *flow, struct as_arena *arena, struct as_nest *nest)
{
    const uint64_t most = OUTSIZE_TIMES * (uint64_t)flow->blocks + OUTSIZE_LEAST;
    uint64_t sum = 0;
    uint32_t limit = UINT32_MAX;
    for (uint32_t l = 0; l < nest->loops; l++)
        sum += nest->loop[l].blocks;
    if (sum <= most)
        return 0;
    uint32_t *size = as_arena_array(arena, uint32_t, nest->loops);
    if (!size)
        return AS_ERR_NOMEM;
    for (uint32_t l = 0; l < nest->loops; l++)
        size[l] = nest->loop[l].blocks;
    qsort(size, nest->loops, sizeof *size, by_size);
    sum = 0;
    for (uint32_t i = 0; i < nest->loops && limit == UINT32_MAX; i++) {
        sum += size[i];
        limit = sum > most ? size[i] : limit;
    }
    for (uint32_t l = 0; l < nest->loops; l++)
        nest->loop[l].bits |= nest->loop[l].blocks >= limit ? AS_LOOP_OUTSIZE : 0;
    return 0;
}

/* Counts the blocks that the loop tables list: for outsize loops only their own blocks. */
static void count_outsize_blocks(const struct as_flow *flow, struct as_nest *nest)
{
    count_blocks(flow, nest, false);
    for (uint32_t l = nest->loops; l-- > 0;) {
        const struct as_nest_loop *it = &nest->loop[l];
        if (it->parent == AS_NONE)
            continue;
        struct as_nest_loop *around = &nest->loop[it->parent];
        around->bits |= it->bits & AS_LOOP_OUTSIZE;
        if (!(around->bits & AS_LOOP_OUTSIZE))
            around->blocks += it->blocks;
    }
}

static void mark_loops(const struct as_flow *flow, struct as_nest *nest)
{
    for (uint32_t v = 0; v < flow->blocks; v++) {
        unsigned bits = 0;
        bits |= flow->block[v].bits & AS_BLOCK_UNRESOLVED ? AS_LOOP_UNRESOLVED : 0;
        bits |= flow->block[v].bits & AS_BLOCK_CALL ? AS_LOOP_CALLS : 0;
        if (nest->loop_of[v] != AS_NONE)
            nest->loop[nest->loop_of[v]].bits |= (uint8_t)bits;
    }
    for (uint32_t l = nest->loops; l-- > 0;) {
        const unsigned up = AS_LOOP_UNRESOLVED | AS_LOOP_CALLS;
        if (nest->loop[l].parent != AS_NONE)
            nest->loop[nest->loop[l].parent].bits |= (uint8_t)(nest->loop[l].bits & up);
    }
    for (uint32_t l = 0; l < nest->loops; l++) {
        if (flow->block[nest->loop[l].header].bits & AS_BLOCK_UNREACHED)
            nest->loop[l].bits |= AS_LOOP_UNREACHED;
    }
}

static int build_nest_loops(const struct as_graph *graph, const struct as_graph *back,
                            const struct as_graph_order *order, uint32_t blocks,
                            struct as_arena *arena, struct as_nest *out)
{
    struct as_graph_loops found;
    AS_TRY(as_graph_make_forest(graph, back, order, arena, &found));
    out->loop_of = found.loop_of;
    out->loops = found.loops;
    out->loop = as_arena_fresh(arena, struct as_nest_loop, (size_t)found.loops + 1);
    out->heads = as_arena_fresh(arena, uint32_t, (size_t)blocks + 1);
    if (!out->loop || !out->heads)
        return AS_ERR_NOMEM;
    memset(out->heads, 0xff, sizeof *out->heads * blocks);
    for (uint32_t l = 0; l < found.loops; l++) {
        uint32_t parent = found.parent[l];
        out->loop[l] = (struct as_nest_loop){
            .header = found.header[l],
            .parent = parent,
            .depth = parent == AS_NONE ? 1 : out->loop[parent].depth + 1,
            .bits = found.irreducible[l] ? AS_LOOP_IRREDUCIBLE : 0,
        };
        out->heads[found.header[l]] = l;
    }
    return 0;
}

/* Finds dominators and loops. `keep` gets the dominators with one more element for the virtual
 * root. */
static int find_nest(const struct as_builder *b, const struct as_flow *flow, struct as_arena *arena,
                     struct as_arena *keep, struct as_nest *out)
{
    struct as_graph graph, back;
    struct as_graph_order order;
    uint32_t root;
    bool merged;
    AS_TRY(make_graph(flow, arena, &graph, &root));
    AS_TRY(as_graph_order(&graph, root, arena, &order));
    AS_TRY(as_graph_reverse(&graph, arena, &back));
    out->idom = as_arena_fresh(keep, uint32_t, graph.nodes);
    out->ipdom = as_arena_fresh(keep, uint32_t, graph.nodes);
    if (!out->idom || !out->ipdom)
        return AS_ERR_NOMEM;
    AS_TRY(as_graph_dominate(&back, &order, arena, out->idom));
    AS_TRY(as_graph_post_dominate(&graph, &back, arena, out->ipdom));
    for (uint32_t v = 0; v < flow->blocks; v++) {
        if (out->idom[v] >= flow->blocks)
            out->idom[v] = AS_NONE;
        if (out->ipdom[v] >= flow->blocks)
            out->ipdom[v] = AS_NONE;
    }
    if (!order.cyclic)
        return 0;
    AS_TRY(build_nest_loops(&graph, &back, &order, flow->blocks, arena, out));
    if (out->loops == 0)
        return 0;
    AS_TRY(as_nest_merge_dispatch(flow, arena, out, &merged));
    if (merged)
        AS_TRY(renumber(flow, arena, out));
    count_blocks(flow, out, true);
    AS_TRY(mark_outsize(flow, arena, out));
    as_nest_simplify(b, flow, out);
    AS_TRY(renumber(flow, arena, out));
    count_outsize_blocks(flow, out);
    mark_loops(flow, out);
    return 0;
}

static int copy_to_arena(struct as_arena *keep, uint32_t n, uint32_t **words)
{
    uint32_t *copy = as_arena_alloc(keep, sizeof *copy * n, sizeof *copy);
    if (!copy)
        return AS_ERR_NOMEM;
    memcpy(copy, *words, sizeof *copy * n);
    *words = copy;
    return 0;
}

int as_nest_make(const struct as_builder *b, const struct as_flow *flow, struct as_arena *scratch,
                 struct as_arena *keep, struct as_nest *out)
{
    *out = (struct as_nest){0};
    if (flow->blocks == 0)
        return 0;
    AS_TRY(find_nest(b, flow, scratch, keep, out));
    if (out->loops == 0)
        return 0;
    AS_TRY(copy_to_arena(keep, flow->blocks, &out->loop_of));
    AS_TRY(copy_to_arena(keep, flow->blocks, &out->heads));
    struct as_nest_loop *loop = as_arena_alloc(keep, sizeof *loop * out->loops, 8);
    if (!loop)
        return AS_ERR_NOMEM;
    memcpy(loop, out->loop, sizeof *loop * out->loops);
    out->loop = loop;
    return 0;
}
