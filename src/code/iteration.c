/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the graph of one iteration of a loop and the views that analyses walk. A depth-first
 * search starts at the header and stays inside the loop. An edge to a block on the search stack is
 * a back edge of an inner loop. In irreducible parts the order of edges decides which loop this is.
 */
#include "code/iteration.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Search state. A slot numbers a block of the loop until the nodes have their numbers. */
struct loop_search {
    const struct as_program *program;
    uint32_t header; /* block */
    uint32_t n;
    const uint32_t *block; /* per slot, ascending */
    uint32_t *edge;        /* per slot: number of successors not visited yet */
    uint8_t *state;        /* 0 new, 1 on the stack, 2 done */
    uint32_t *number;      /* per slot: postorder number, later the node number */
    uint32_t *stack;
    uint32_t reached, edges;
};

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static const uint32_t *sorted_blocks(const struct as_program *program, const struct as_loop *loop,
                                     struct as_arena *arena)
{
    const uint32_t *at = program->loop_block + loop->first_block;
    uint32_t i = 1;
    while (i < loop->blocks && at[i - 1] < at[i])
        i++;
    if (i >= loop->blocks)
        return at;
    uint32_t *copy = as_arena_array(arena, uint32_t, loop->blocks);
    if (!copy)
        return NULL;
    memcpy(copy, at, loop->blocks * sizeof *copy);
    qsort(copy, loop->blocks, sizeof *copy, compare_u32);
    return copy;
}

/* Returns the slot of a block, or AS_NONE if the block is outside of the loop. */
static uint32_t slot_of(const struct loop_search *s, uint32_t block)
{
    uint32_t first = s->block[0];
    if (block < first || block > s->block[s->n - 1])
        return AS_NONE;
    if (s->block[s->n - 1] - first + 1 == s->n)
        return block - first;
    const uint32_t *at = bsearch(&block, s->block, s->n, sizeof block, compare_u32);
    return at ? (uint32_t)(at - s->block) : AS_NONE;
}

static void enter_slot(struct loop_search *s, uint32_t slot, uint32_t *depth)
{
    s->state[slot] = 1;
    s->edge[slot] = s->program->block[s->block[slot]].succs;
    s->stack[(*depth)++] = slot;
}

/* Visits the last successor first, so the reverse postorder follows the order of the edges. */
static void run_search(struct loop_search *s)
{
    uint32_t depth = 0;
    enter_slot(s, slot_of(s, s->header), &depth);
    while (depth) {
        uint32_t slot = s->stack[depth - 1];
        const struct as_block *b = &s->program->block[s->block[slot]];
        if (!s->edge[slot]) {
            s->state[slot] = 2;
            s->number[slot] = s->reached++;
            s->edges += b->succs;
            depth--;
            continue;
        }
        uint32_t to = slot_of(s, s->program->succ[b->first_succ + --s->edge[slot]].block);
        if (to != AS_NONE && !s->state[to])
            enter_slot(s, to, &depth);
    }
}

static int search_make(struct loop_search *s, const struct as_program *program, uint32_t loop,
                       struct as_arena *arena)
{
    const struct as_loop *l = &program->loop[loop];
    uint32_t n = l->blocks;
    *s = (struct loop_search){.program = program, .header = l->header, .n = n};
    s->block = sorted_blocks(program, l, arena);
    s->edge = as_arena_fresh(arena, uint32_t, 3 * (size_t)n);
    s->state = as_arena_array(arena, uint8_t, n);
    if (!s->block || !s->edge || !s->state)
        return AS_ERR_NOMEM;
    s->number = s->edge + n;
    s->stack = s->number + n;
    return 0;
}

/*
 * Lists the successors of node `u` in `to` without duplicates. Edges to a number not above `u` are
 * back edges; only those to the header stay in the list. `mark` has, per node, the last node that
 * listed it. Returns the number of successors.
 */
static uint32_t list_succs(const struct loop_search *s, const struct as_block *b, uint32_t u,
                           uint32_t *mark, uint32_t *retreat, uint32_t *to)
{
    uint32_t n = 0;
    for (uint32_t e = 0; e < b->succs; e++) {
        uint32_t slot = slot_of(s, s->program->succ[b->first_succ + e].block);
        if (slot == AS_NONE)
            continue;
        uint32_t v = s->number[slot];
        if (mark[v] == u)
            continue;
        mark[v] = u;
        if (v == 0 || v > u)
            to[n++] = v;
        else if (retreat[v] == AS_NONE || retreat[v] < u)
            retreat[v] = u;
    }
    return n;
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void count_ways(const struct as_iteration *it, uint64_t *ways)
{
    for (uint32_t u = it->nodes; u-- > 0;) {
        for (uint32_t e = it->first_succ[u]; e < it->first_succ[u + 1]; e++)
            ways[u] = add_saturated(ways[u], it->succ[e] ? ways[it->succ[e]] : 1);
    }
}

static int list_preds(struct as_iteration *it, struct as_arena *arena)
{
    uint32_t n = it->nodes;
    uint32_t *first = as_arena_array(arena, uint32_t, (size_t)n + 2);
    uint32_t *pred = as_arena_fresh(arena, uint32_t, (size_t)it->first_succ[n] + 1);
    if (!first || !pred)
        return AS_ERR_NOMEM;
    for (uint32_t e = 0; e < it->first_succ[n]; e++)
        first[it->succ[e] + 2] += it->succ[e] != 0;
    for (uint32_t v = 2; v < n + 2; v++)
        first[v] += first[v - 1];
    for (uint32_t u = 0; u < n; u++) {
        for (uint32_t e = it->first_succ[u]; e < it->first_succ[u + 1]; e++) {
            if (it->succ[e])
                pred[first[it->succ[e] + 1]++] = u;
        }
    }
    it->first_pred = first;
    it->pred = pred;
    return 0;
}

static int number_nodes(const struct loop_search *s, struct as_iteration *it,
                        struct as_arena *arena)
{
    uint32_t n = s->reached;
    uint32_t *mark = as_arena_fresh(arena, uint32_t, 4 * (size_t)n + s->edges + 2);
    bool *ends = as_arena_array(arena, bool, n);
    uint64_t *ways = as_arena_array(arena, uint64_t, n);
    if (!mark || !ends || !ways)
        return AS_ERR_NOMEM;
    uint32_t *retreat = mark + n, *block = retreat + n, *first = block + n, *succ = first + n + 1;
    for (uint32_t slot = 0; slot < s->n; slot++) {
        if (s->state[slot] != 2)
            continue;
        s->number[slot] = n - 1 - s->number[slot];
        block[s->number[slot]] = s->block[slot];
    }
    memset(mark, 0xff, 2 * (size_t)n * sizeof *mark); /* also clears retreat */
    first[0] = 0;
    for (uint32_t u = 0; u < n; u++) {
        const struct as_block *b = &s->program->block[block[u]];
        first[u + 1] = first[u] + list_succs(s, b, u, mark, retreat, succ + first[u]);
        for (uint32_t e = first[u]; e < first[u + 1]; e++)
            ends[u] |= succ[e] == 0;
    }
    for (uint32_t u = 0; u < n; u++)
        it->has_inner |= retreat[u] != AS_NONE;
    it->nodes = n;
    it->block = block;
    it->first_succ = first;
    it->succ = succ;
    it->retreat = retreat;
    it->ends = ends;
    it->ways = ways;
    count_ways(it, ways);
    return 0;
}

/* Arrays of a loop with one block that is its own successor. Most innermost loops
 * are such loops. */
struct single_node {
    uint64_t ways;
    uint32_t block, retreat;
    uint32_t first_succ[2], succ;
    uint32_t first_pred[2], pred;
    bool ends;
};

static bool leads_to_itself(const struct as_program *program, uint32_t block)
{
    const struct as_block *b = &program->block[block];
    for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++) {
        if (program->succ[e].block == block)
            return true;
    }
    return false;
}

static int make_single(struct as_iteration *out, struct as_arena *arena)
{
    struct single_node *node = as_arena_fresh(arena, struct single_node, 1);
    if (!node)
        return AS_ERR_NOMEM;
    *node = (struct single_node){.ways = 1,
                                 .block = out->program->loop[out->loop].header,
                                 .retreat = AS_NONE,
                                 .first_succ = {0, 1},
                                 .ends = true};
    out->nodes = 1;
    out->block = &node->block;
    out->first_succ = node->first_succ;
    out->succ = &node->succ;
    out->first_pred = node->first_pred;
    out->pred = &node->pred;
    out->ends = &node->ends;
    out->retreat = &node->retreat;
    out->ways = &node->ways;
    return 0;
}

int as_iteration_make(const struct as_program *program, uint32_t loop, struct as_arena *arena,
                      struct as_iteration *out)
{
    struct loop_search s;
    *out = (struct as_iteration){.program = program, .loop = loop};
    if (program->loop[loop].blocks == 1 && leads_to_itself(program, program->loop[loop].header))
        return make_single(out, arena);
    AS_TRY(search_make(&s, program, loop, arena));
    run_search(&s);
    AS_TRY(number_nodes(&s, out, arena));
    return list_preds(out, arena);
}

static void number_insns(struct as_iteration_view *view)
{
    for (uint32_t i = 0; i < view->n; i++) {
        view->index[view->node[i]] = i;
        view->start[i + 1] = view->start[i] + as_iteration_view_block(view, i)->insns;
    }
}

static void select_nodes(struct as_iteration_view *view, enum as_iteration_view_kind kind)
{
    const struct as_iteration *it = view->iteration;
    for (uint32_t u = 0; u < it->nodes; u++) {
        if (kind == AS_ITERATION_ALL || it->ways[u])
            view->node[view->n++] = u;
    }
}

/* Selects the nodes of a path. Each block of a path is a successor of the one before. */
static void select_path_nodes(struct as_iteration_view *view, const uint32_t *block,
                              uint32_t blocks)
{
    const struct as_iteration *it = view->iteration;
    if (blocks)
        view->node[view->n++] = 0;
    for (uint32_t i = 1; i < blocks; i++) {
        uint32_t u = view->node[view->n - 1];
        for (uint32_t e = it->first_succ[u]; e < it->first_succ[u + 1]; e++) {
            if (it->block[it->succ[e]] == block[i])
                view->node[view->n++] = it->succ[e];
        }
    }
}

int as_iteration_view_make(const struct as_iteration *iteration, enum as_iteration_view_kind kind,
                           const uint32_t *block, uint32_t blocks, struct as_arena *arena,
                           struct as_iteration_view *out)
{
    uint32_t n = kind == AS_ITERATION_PATH ? blocks : iteration->nodes;
    *out = (struct as_iteration_view){.iteration = iteration, .chain = kind == AS_ITERATION_PATH};
    out->node = as_arena_fresh(arena, uint32_t, 2 * (size_t)n + 1 + iteration->nodes);
    if (!out->node)
        return AS_ERR_NOMEM;
    out->start = out->node + n;
    out->index = out->start + n + 1;
    out->start[0] = 0;
    memset(out->index, 0xff, iteration->nodes * sizeof *out->index);
    if (kind == AS_ITERATION_PATH)
        select_path_nodes(out, block, blocks);
    else
        select_nodes(out, kind);
    number_insns(out);
    return 0;
}
