/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the blocks of an area that are counted, and derives the counts of the others. Control
 * enters a block as often as it leaves it. Source: Knuth and Stevenson, "Optimal measurement points
 * for program frequency counts", BIT 13, 1973.
 *
 * Edges with a common end form a class. A block connects the class of its incoming edges to that of
 * its outgoing edges. Counts of blocks in a spanning tree follow from the others. Calls may never
 * return, or return twice. So a block with a call also has an edge to the outside with any count.
 */
#include "patch/internal.h"

#include "base/alloc.h"
#include "base/sort.h"

enum { TERMS_MOST = 64 }; /* mean number of terms per block */

struct graph {
    const struct as_patch_area *area;
    uint32_t n; /* number of blocks; node n is the outside */
    /* Per block and side (2 * block, and 1 more for outgoing edges): representative of
     * the class. */
    uint32_t *class;
    uint32_t *up;    /* per class: block of the tree towards its root */
    uint32_t *depth; /* per class */
    bool *in_tree;   /* per block */
};

/* ---- Classes of edges ------------------------------------------------------------------------ */

static uint32_t find_class(struct graph *g, uint32_t side)
{
    while (g->class[side] != side)
        side = g->class[side] = g->class[g->class[side]];
    return side;
}

static uint32_t ways_to(struct graph *g, uint32_t block)
{
    return find_class(g, 2 * block);
}

static uint32_t ways_from(struct graph *g, uint32_t block)
{
    return find_class(g, 2 * block + 1);
}

static void add_way(struct graph *g, uint32_t from, uint32_t to)
{
    g->class[ways_from(g, from)] = ways_to(g, to);
}

/* Returns true if control may leave the block or enter after it other than along its edges. */
static bool may_leave(const struct as_program *p, const struct as_block *b)
{
    if (b->succs == 0 ||
        b->bits & (AS_BLOCK_RETURN | AS_BLOCK_TAILCALL | AS_BLOCK_UNRESOLVED | AS_BLOCK_NORETURN))
        return true;
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        const unsigned kind = as_form_of(&p->code.insn[i])->insn_class;
        if (kind == AS_CLASS_CALL || kind == AS_CLASS_SYSCALL || kind == AS_CLASS_TRAP)
            return true;
    }
    return false;
}

static void add_ways(struct graph *g)
{
    const struct as_patch_area *area = g->area;
    const struct as_program *p = area->code->program;
    for (uint32_t k = 0; k < g->n; k++) {
        const struct as_block *b = &p->block[area->block[k]];
        if (may_leave(p, b))
            add_way(g, k, g->n);
        if (as_patch_area_enters(area, b->start) || b->bits & AS_BLOCK_LANDING)
            add_way(g, g->n, k);
        for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++) {
            const uint32_t to = as_patch_area_find(area, p->block[p->succ[e].block].start);
            add_way(g, k, to == AS_NONE ? g->n : to);
        }
    }
}

/* ---- The tree -------------------------------------------------------------------------------- */

/* Returns the weight of a block for the tree: blocks of inner loops first. Then come blocks with
 * several predecessors, then blocks with live flags. */
static uint32_t weight_of(const struct graph *g, uint32_t k)
{
    const struct as_program *p = g->area->code->program;
    const struct as_block *b = &p->block[g->area->block[k]];
    const uint32_t depth = b->loop == AS_NONE ? 0 : p->loop[b->loop].depth;
    const bool keeps_flags = as_live_at(g->area->code, g->area->block[k]) & AS_LIVE_STATUS;
    return 4 * depth + 2 * (b->preds > 1) + keeps_flags;
}

/* Adds a block to the tree unless the tree already connects its ends. `tree` is a union-find over
 * the classes. */
static void try_block(struct graph *g, uint32_t *tree, uint32_t block)
{
    uint32_t a = ways_to(g, block), b = ways_from(g, block);
    while (tree[a] != a)
        a = tree[a] = tree[tree[a]];
    while (tree[b] != b)
        b = tree[b] = tree[tree[b]];
    g->in_tree[block] = a != b;
    tree[a] = b;
}

static int grow_tree(struct graph *g)
{
    struct as_sort_key *key = as_calloc(g->n + 1, sizeof *key);
    uint32_t *tree = as_calloc(2 * (size_t)g->n + 2, sizeof *tree);
    int rc = key && tree ? 0 : AS_ERR_NOMEM;
    for (uint32_t k = 0; rc == 0 && k < g->n; k++)
        key[k] = (struct as_sort_key){UINT32_MAX - weight_of(g, k), k};
    if (rc == 0)
        rc = as_sort_keys(key, g->n);
    for (uint32_t s = 0; rc == 0 && s < 2 * g->n + 2; s++)
        tree[s] = s;
    if (rc == 0)
        try_block(g, tree, g->n);
    for (uint32_t i = 0; rc == 0 && i < g->n; i++)
        try_block(g, tree, key[i].at);
    as_free(key);
    as_free(tree);
    return rc;
}

/* Sets the depth of all classes that blocks of the tree connect to class `root`. `stack` has the
 * capacity for all classes. `first` and `next` list the blocks of each class. */
static void hang_below(struct graph *g, uint32_t root, uint32_t *stack, const uint32_t *first,
                       const uint32_t *next)
{
    uint32_t n = 0;
    g->depth[root] = 1;
    stack[n++] = root;
    while (n) {
        const uint32_t at = stack[--n];
        for (uint32_t side = first[at]; side != AS_NONE; side = next[side]) {
            const uint32_t to = find_class(g, side ^ 1);
            if (g->depth[to])
                continue;
            g->depth[to] = g->depth[at] + 1;
            g->up[to] = side / 2;
            stack[n++] = to;
        }
    }
}

static int root_tree(struct graph *g)
{
    const size_t sides = 2 * (size_t)g->n + 2;
    uint32_t *first = as_calloc(3 * sides, sizeof *first);
    if (!first)
        return AS_ERR_NOMEM;
    uint32_t *next = first + sides, *stack = next + sides;
    for (uint32_t s = 0; s < sides; s++)
        first[s] = AS_NONE;
    for (uint32_t s = 0; s < sides; s++) {
        if (!g->in_tree[s / 2])
            continue;
        next[s] = first[find_class(g, s)];
        first[find_class(g, s)] = s;
    }
    for (uint32_t s = 0; s < sides; s++)
        if (find_class(g, s) == s && !g->depth[s])
            hang_below(g, s, stack, first, next);
    as_free(first);
    return 0;
}

/* ---- Terms ----------------------------------------------------------------------------------- */

static int add_term(const struct graph *g, struct as_patch_counted *out, uint32_t to, uint32_t from,
                    int32_t times)
{
    if (to == g->n) /* the count of entries into the area is not used */
        return 0;
    return as_vec_push(&out->term, (struct as_patch_term){to, from, times, 0});
}

/* Adds the terms of a counted block: each run of `block` also counts for the blocks of the tree
 * that close a cycle with it. */
static int add_circle(struct graph *g, uint32_t block, struct as_patch_counted *out)
{
    uint32_t end = ways_from(g, block), begin = ways_to(g, block);
    while (end != begin) {
        if (g->depth[end] >= g->depth[begin]) {
            const uint32_t up = g->up[end];
            const bool along = ways_to(g, up) == end;
            AS_TRY(add_term(g, out, up, block, along ? 1 : -1));
            end = along ? ways_from(g, up) : ways_to(g, up);
        } else {
            const uint32_t up = g->up[begin];
            const bool along = ways_from(g, up) == begin;
            AS_TRY(add_term(g, out, up, block, along ? 1 : -1));
            begin = along ? ways_to(g, up) : ways_from(g, up);
        }
    }
    return 0;
}

static int add_circles(struct graph *g, struct as_patch_counted *out)
{
    for (uint32_t k = 0; k < g->n; k++) {
        out->is[k] = !g->in_tree[k];
        if (out->is[k])
            AS_TRY(add_circle(g, k, out));
    }
    if (out->term.n <= (size_t)TERMS_MOST * g->n)
        return 0;
    out->term.n = 0;
    for (uint32_t k = 0; k < g->n; k++)
        out->is[k] = true;
    return 0;
}

int as_patch_counted_find(const struct as_patch_area *area, struct as_patch_counted *out)
{
    const size_t sides = 2 * (size_t)area->blocks + 2;
    struct graph g = {.area = area, .n = area->blocks};
    out->is = as_calloc(area->blocks + 1, sizeof *out->is);
    g.class = as_calloc(3 * sides, sizeof *g.class);
    g.in_tree = as_calloc(area->blocks + 1, sizeof *g.in_tree);
    int rc = out->is && g.class && g.in_tree ? 0 : AS_ERR_NOMEM;
    if (rc == 0) {
        g.up = g.class + sides;
        g.depth = g.up + sides;
        for (uint32_t s = 0; s < sides; s++)
            g.class[s] = s;
        add_ways(&g);
        rc = grow_tree(&g);
    }
    if (rc == 0)
        rc = root_tree(&g);
    if (rc == 0)
        rc = add_circles(&g, out);
    as_free(g.class);
    as_free(g.in_tree);
    return rc;
}

void as_patch_counted_fini(struct as_patch_counted *counted)
{
    as_free(counted->is);
    as_vec_fini(&counted->term);
    counted->is = NULL;
}
