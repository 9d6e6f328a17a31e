/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes blocks from the marks and edges of a walked body. A block runs from a leader to the next
 * leader, an end, or the end of its region. Control that continues in the next block is an edge
 * too.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "code/flow.h"

static int by_kind(const void *a, const void *b)
{
    const struct as_flow_edge *x = a, *y = b;
    if (x->kind != y->kind)
        return (x->kind > y->kind) - (x->kind < y->kind);
    return (x->to > y->to) - (x->to < y->to);
}

static uint8_t block_bits(const struct as_walk *walk, uint16_t first, uint16_t last, bool has_call,
                          uint64_t start)
{
    unsigned bits = 0;
    if (start == walk->b->region.at[walk->body->head].start)
        bits |= AS_BLOCK_ENTRY;
    bits |= first & AS_MARK_PAD ? AS_BLOCK_LANDING : 0;
    bits |= first & AS_MARK_DEAD ? AS_BLOCK_UNREACHED : 0;
    bits |= last & AS_MARK_UNRESOLVED ? AS_BLOCK_UNRESOLVED : 0;
    bits |= has_call ? AS_BLOCK_CALL : 0;
    bits |= last & AS_MARK_NORETURN ? AS_BLOCK_NORETURN : 0;
    bits |= last & AS_MARK_RETURN ? AS_BLOCK_RETURN : 0;
    bits |= last & AS_MARK_TAILCALL ? AS_BLOCK_TAILCALL : 0;
    return (uint8_t)bits;
}

/* Makes the block that begins at `leader`. Returns the position after the block. */
static uint32_t make_block(const struct as_walk *walk, uint32_t leader, size_t first_insn,
                           struct as_flow_block *out)
{
    const uint16_t *mark = walk->mark.at;
    const uint32_t positions = walk->positions;
    uint32_t at = leader;
    unsigned seen = 0;
    do {
        seen |= mark[at++];
    } while (!(seen & AS_MARK_END) && at < positions &&
             (mark[at] & (AS_MARK_LEADER | AS_MARK_REACHED)) == AS_MARK_REACHED);
    const struct as_insn *insn = &walk->b->program->code.insn[first_insn];
    const struct as_insn *end = &insn[at - leader - 1];
    *out = (struct as_flow_block){
        .start = insn->address,
        .size_b = (uint32_t)(end->address + end->length - insn->address),
        .first_insn = (uint32_t)first_insn,
        .insns = at - leader,
        .bits = block_bits(walk, mark[leader], mark[at - 1], seen & AS_MARK_CALL, insn->address),
        .is_root = (mark[leader] & AS_MARK_ROOT) != 0,
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
        return AS_ERR_NOMEM;
    if (walk->tail.n)
        memcpy(out->callee, walk->tail.at, sizeof *out->callee * walk->tail.n);
    if (walk->callee.n)
        memcpy(out->callee + walk->tail.n, walk->callee.at, sizeof *out->callee * walk->callee.n);
    return 0;
}

/* Makes all blocks by position. Returns how many of them continue in the next block. */
static uint32_t make_blocks(struct as_walk *walk, struct as_flow *out)
{
    const uint16_t *mark = walk->mark.at;
    uint32_t falls = 0;
    for (uint32_t i = 0; i < walk->positions;) {
        if (!(mark[i] & AS_MARK_LEADER)) {
            i++;
            continue;
        }
        struct as_flow_block *block = &out->block[out->blocks];
        walk->block.at[i] = out->blocks;
        i = make_block(walk, i, as_walk_insn(walk, i), block);
        walk->last.at[out->blocks] = i - 1;
        falls += !(mark[i - 1] & AS_MARK_END) && i < walk->positions;
        if (block->bits & AS_BLOCK_ENTRY)
            out->entry = out->blocks;
        out->blocks++;
    }
    assert(out->blocks == walk->leaders && "every leader was counted once");
    return falls;
}

/* Sorts the edges of a block by kind, then by block. Insertion sort is faster for the usual two
 * edges; jump tables have thousands. */
static void order_edges(struct as_flow_edge *at, uint32_t n)
{
    if (n > 16) {
        qsort(at, n, sizeof *at, by_kind);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        const struct as_flow_edge moved = at[i];
        uint32_t j = i;
        for (; j > 0 && by_kind(&at[j - 1], &moved) > 0; j--)
            at[j] = at[j - 1];
        at[j] = moved;
    }
}

static void make_edges(const struct as_walk *walk, struct as_flow *out)
{
    for (uint32_t v = 0; v < out->blocks; v++) {
        struct as_flow_block *block = &out->block[v];
        const uint32_t last = walk->last.at[v];
        block->first_edge = out->edges;
        if (walk->mark.at[last] & AS_MARK_END) {
            for (size_t e = walk->first_edge.at[last];
                 e < walk->edge.n && walk->edge.at[e].from == last; e++)
                out->edge[out->edges++] = (struct as_flow_edge){walk->block.at[walk->edge.at[e].to],
                                                                walk->edge.at[e].kind};
            order_edges(out->edge + block->first_edge, out->edges - block->first_edge);
        } else if (last + 1 < walk->positions) {
            out->edge[out->edges++] = (struct as_flow_edge){walk->block.at[last + 1], AS_EDGE_FALL};
        }
        block->edges = out->edges - block->first_edge;
    }
}

int as_walk_blocks(struct as_walk *walk, struct as_arena *arena, struct as_flow *out)
{
    *out = (struct as_flow){
        .entry = AS_NONE,
        .jumps = walk->jumps,
        .tables = walk->tables,
        .calls = walk->calls,
        .may_return = walk->may_return,
        .has_landing = walk->landing.n > 0,
    };
    AS_TRY(copy_callees(walk, arena, out));
    AS_TRY(as_vec_reserve(&walk->last, walk->leaders));
    out->block = as_arena_fresh(arena, struct as_flow_block, (size_t)walk->leaders + 1);
    if (!out->block)
        return AS_ERR_NOMEM;
    const size_t edges = walk->edge.n + make_blocks(walk, out);
    out->edge = as_arena_fresh(arena, struct as_flow_edge, edges + 1);
    if (!out->edge)
        return AS_ERR_NOMEM;
    make_edges(walk, out);
    return 0;
}
