/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the marks and edges of a walked body to its blocks: a block runs from a leader to the next
 * leader, an end, or the end of its region. The way on into the next block is an edge too.
 */
#include <stdlib.h>
#include <string.h>

#include "code/flow.h"

static int by_source(const void *a, const void *b)
{
    const struct as_walk_edge *x = a, *y = b;
    if (x->from != y->from)
        return (x->from > y->from) - (x->from < y->from);
    if (x->kind != y->kind)
        return (x->kind > y->kind) - (x->kind < y->kind);
    return (x->to > y->to) - (x->to < y->to);
}

static uint8_t block_bits(const struct as_walk *walk, uint16_t first, uint16_t last, bool has_call,
                          uint32_t leader)
{
    unsigned bits = 0;
    const struct assay_insn *insn = &walk->b->program->code.insn[as_walk_insn(walk, leader)];
    if (insn->address == walk->b->region.at[walk->body->head].start)
        bits |= ASSAY_BLOCK_ENTRY;
    bits |= first & AS_MARK_PAD ? ASSAY_BLOCK_LANDING : 0;
    bits |= first & AS_MARK_DEAD ? ASSAY_BLOCK_UNREACHED : 0;
    bits |= last & AS_MARK_UNRESOLVED ? ASSAY_BLOCK_UNRESOLVED : 0;
    bits |= has_call ? ASSAY_BLOCK_CALL : 0;
    bits |= last & AS_MARK_NORETURN ? ASSAY_BLOCK_NORETURN : 0;
    bits |= last & AS_MARK_RETURN ? ASSAY_BLOCK_RETURN : 0;
    bits |= last & AS_MARK_TAILCALL ? ASSAY_BLOCK_TAILCALL : 0;
    return (uint8_t)bits;
}

/* The block that begins at `leader`; returns the position after it. */
static uint32_t make_block(const struct as_walk *walk, uint32_t leader, struct as_flow_block *out,
                           uint32_t *last)
{
    size_t first_insn = as_walk_insn(walk, leader);
    uint32_t at = leader;
    uint32_t n = 0;
    bool has_call = false;
    for (;;) {
        uint16_t mark = walk->mark.at[at];
        has_call |= (mark & AS_MARK_CALL) != 0;
        n++;
        at++;
        if ((mark & AS_MARK_END) || at >= walk->positions ||
            (walk->mark.at[at] & (AS_MARK_LEADER | AS_MARK_REACHED)) != AS_MARK_REACHED)
            break;
    }
    *last = at - 1;
    *out = (struct as_flow_block){
        .first_insn = (uint32_t)first_insn,
        .insns = n,
        .bits = block_bits(walk, walk->mark.at[leader], walk->mark.at[at - 1], has_call, leader),
        .is_root = (walk->mark.at[leader] & AS_MARK_ROOT) != 0,
    };
    return at;
}

static int copy_callees(const struct as_walk *walk, struct as_arena *arena, struct as_flow *out)
{
    out->tails = (uint32_t)walk->tail.n;
    out->callees = (uint32_t)(walk->tail.n + walk->callee.n);
    if (!out->callees)
        return 0;
    out->callee = as_arena_alloc(arena, sizeof *out->callee * out->callees, sizeof *out->callee);
    if (!out->callee)
        return ASSAY_ERR_NOMEM;
    if (walk->tail.n)
        memcpy(out->callee, walk->tail.at, sizeof *out->callee * walk->tail.n);
    if (walk->callee.n)
        memcpy(out->callee + walk->tail.n, walk->callee.at, sizeof *out->callee * walk->callee.n);
    return 0;
}

/* Counts blocks and the edges between a block that simply goes on and the next. */
static void count_blocks(const struct as_walk *walk, uint32_t *blocks, uint32_t *falls)
{
    *blocks = *falls = 0;
    for (uint32_t i = 0; i < walk->positions; i++) {
        if (!(walk->mark.at[i] & AS_MARK_LEADER))
            continue;
        ++*blocks;
        *falls +=
            i > 0 && (walk->mark.at[i - 1] & (AS_MARK_REACHED | AS_MARK_END)) == AS_MARK_REACHED;
    }
}

int as_walk_blocks(struct as_walk *walk, struct as_arena *arena, struct as_flow *out)
{
    uint32_t blocks, falls;
    count_blocks(walk, &blocks, &falls);
    *out = (struct as_flow){
        .entry = ASSAY_NONE,
        .jumps = walk->jumps,
        .tables = walk->tables,
        .calls = walk->calls,
        .may_return = walk->may_return,
        .has_landing = walk->landing.n > 0,
    };
    AS_TRY(copy_callees(walk, arena, out));
    if (walk->edge.n)
        qsort(walk->edge.at, walk->edge.n, sizeof *walk->edge.at, by_source);
    size_t most = walk->edge.n + falls;
    out->block = as_arena_alloc(arena, sizeof *out->block * (blocks + 1), 8);
    out->edge = as_arena_alloc(arena, sizeof *out->edge * (most + 1), 8);
    if (!out->block || !out->edge)
        return ASSAY_ERR_NOMEM;
    for (uint32_t i = 0, n = 0; i < walk->positions; i++) {
        if (walk->mark.at[i] & AS_MARK_LEADER)
            walk->block.at[i] = n++;
    }
    size_t e = 0;
    for (uint32_t i = 0; i < walk->positions;) {
        if (!(walk->mark.at[i] & AS_MARK_LEADER)) {
            i++;
            continue;
        }
        struct as_flow_block *block = &out->block[out->blocks];
        uint32_t last;
        i = make_block(walk, i, block, &last);
        block->first_edge = out->edges;
        while (e < walk->edge.n && walk->edge.at[e].from < last)
            e++;
        for (; e < walk->edge.n && walk->edge.at[e].from == last; e++)
            out->edge[out->edges++] =
                (struct as_flow_edge){walk->block.at[walk->edge.at[e].to], walk->edge.at[e].kind};
        if (!(walk->mark.at[last] & AS_MARK_END) && i < walk->positions)
            out->edge[out->edges++] = (struct as_flow_edge){walk->block.at[i], ASSAY_EDGE_FALL};
        block->edges = out->edges - block->first_edge;
        if (block->bits & ASSAY_BLOCK_ENTRY)
            out->entry = out->blocks;
        out->blocks++;
    }
    return 0;
}
