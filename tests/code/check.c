/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants of a program's tables. Dominators are checked against their definition: without the
 * dominator, no way leads from a root to the block.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#define HOLDS(condition, text, index)                                                              \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            *where = (index);                                                                      \
            return text;                                                                           \
        }                                                                                          \
    } while (0)

static const char *check_blocks(const struct as_program *p, size_t *where)
{
    uint8_t *taken = calloc(p->code.n + 1, 1);
    const char *bad = NULL;
    size_t bodies = 0;
    for (size_t i = 0; i < p->block_n && !bad; i++) {
        const struct as_block *b = &p->block[i];
        uint64_t at = b->start;
        *where = i;
        if (b->insns == 0 || (size_t)b->first_insn + b->insns > p->code.n)
            bad = "a block's instructions exist";
        for (uint32_t k = 0; k < b->insns && !bad; k++) {
            const struct as_insn *insn = &p->code.insn[b->first_insn + k];
            if (taken[b->first_insn + k]++)
                bad = "an instruction is in one block";
            else if (insn->address != at)
                bad = "a block's instructions follow one another";
            at += insn->length;
        }
        if (!bad && at != b->start + b->size_b)
            bad = "a block's size is that of its instructions";
        if (!bad && (b->body >= p->body_n || i < p->body[b->body].first_block ||
                     i >= p->body[b->body].first_block + (size_t)p->body[b->body].blocks))
            bad = "a block belongs to its body";
    }
    free(taken);
    for (size_t i = 0; i < p->body_n && !bad; i++) {
        *where = i;
        if (p->body[i].first_block != bodies)
            bad = "the bodies' blocks stand one after the other";
        bodies += p->body[i].blocks;
        if (!p->body[i].name || (i && p->body[i].entry <= p->body[i - 1].entry))
            bad = "bodies have names and ascend by entry";
        uint32_t entry = p->body[i].entry_block;
        if (entry != AS_NONE &&
            (p->block[entry].start != p->body[i].entry || !(p->block[entry].bits & AS_BLOCK_ENTRY)))
            bad = "a body's entry block begins at its entry";
    }
    if (!bad && bodies != p->block_n)
        bad = "every block is in a body";
    return bad;
}

static const char *check_edges(const struct as_program *p, size_t *where)
{
    size_t succs = 0, preds = 0;
    for (size_t i = 0; i < p->block_n; i++) {
        const struct as_block *b = &p->block[i];
        HOLDS(b->first_succ == succs && b->succs <= p->edge_n - succs, "successors in order", i);
        HOLDS(b->first_pred == preds && b->preds <= p->edge_n - preds, "predecessors in order", i);
        succs += b->succs;
        preds += b->preds;
        for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++) {
            HOLDS(p->succ[e].block < p->block_n, "a successor exists", i);
            HOLDS(p->block[p->succ[e].block].body == b->body, "edges stay in their body", i);
        }
    }
    HOLDS(succs == p->edge_n && preds == p->edge_n, "edges add up", 0);
    /* As many edges from a to b on one side as on the other: sums of a mixing function agree. */
    uint64_t forward = 0, backward = 0;
    for (size_t i = 0; i < p->block_n; i++) {
        const struct as_block *b = &p->block[i];
        for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++)
            forward += (i * 0x9e3779b97f4a7c15u) ^ (p->succ[e].block * 0xc2b2ae3d27d4eb4fu) ^
                       (p->succ[e].kind * 2u + p->succ[e].back);
        for (uint32_t e = b->first_pred; e < b->first_pred + b->preds; e++)
            backward += (p->pred[e].block * 0x9e3779b97f4a7c15u) ^ (i * 0xc2b2ae3d27d4eb4fu) ^
                        (p->pred[e].kind * 2u + p->pred[e].back);
    }
    HOLDS(forward == backward, "predecessors mirror successors", 0);
    return NULL;
}

static bool in_loop(const struct as_program *p, uint32_t block, uint32_t loop)
{
    uint32_t at = p->block[block].loop;
    while (at != AS_NONE && at != loop)
        at = p->loop[at].parent;
    return at != AS_NONE;
}

static const char *check_loop(const struct as_program *p, uint32_t l, size_t *where)
{
    const struct as_loop *loop = &p->loop[l];
    uint32_t insns = 0, entries = 0, exits = 0, back = 0;
    bool inner = false;
    HOLDS(loop->header < p->block_n && p->block[loop->header].body == loop->body,
          "a header is a block of the body", l);
    HOLDS(loop->parent == AS_NONE || (loop->parent < l && p->loop[loop->parent].body == loop->body),
          "outer loops stand before inner ones", l);
    HOLDS(loop->depth == (loop->parent == AS_NONE ? 1 : p->loop[loop->parent].depth + 1),
          "depth is that of the parent and one", l);
    bool has_header = false;
    for (uint32_t k = 0; k < loop->blocks; k++) {
        uint32_t block = p->loop_block[loop->first_block + k];
        HOLDS(k == 0 || p->loop_block[loop->first_block + k - 1] < block, "a loop's blocks ascend",
              l);
        HOLDS(in_loop(p, block, l), "a loop's block says so", l);
        has_header |= block == loop->header;
        insns += p->block[block].insns;
        const struct as_block *b = &p->block[block];
        for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++) {
            exits += !in_loop(p, p->succ[e].block, l);
            /* The header of a merged inner loop is a place to go back to as well. */
            back += p->succ[e].back && p->block[p->succ[e].block].loop == l;
        }
        for (uint32_t e = b->first_pred; e < b->first_pred + b->preds; e++)
            entries += !in_loop(p, p->pred[e].block, l);
        if (!(loop->bits & AS_LOOP_IRREDUCIBLE)) {
            uint32_t up = block;
            while (up != AS_NONE && up != loop->header)
                up = p->block[up].idom;
            HOLDS(up == loop->header, "a header dominates its natural loop", l);
        }
    }
    for (uint32_t k = l + 1; k < p->loop_n && !inner && p->loop[k].body == loop->body; k++)
        inner = p->loop[k].parent == l;
    bool outer = loop->parent != AS_NONE;
    unsigned level = outer ? (inner ? AS_LEVEL_BETWEEN : AS_LEVEL_INNERMOST)
                           : (inner ? AS_LEVEL_OUTERMOST : AS_LEVEL_SINGLE);
    HOLDS(loop->level == level, "levels follow from the nesting", l);
    HOLDS(has_header, "a loop holds its header", l);
    HOLDS(insns == loop->insns, "a loop's instructions add up", l);
    if (loop->bits & AS_LOOP_OUTSIZE) { /* its own blocks say nothing of edges of inner ones */
        HOLDS(loop->parent == AS_NONE || p->loop[loop->parent].bits & AS_LOOP_OUTSIZE,
              "loops around an outsize one are outsize", l);
        HOLDS(loop->paths == 0, "paths of outsize loops are not counted", l);
        return NULL;
    }
    HOLDS(entries == loop->entries, "a loop's entries add up", l);
    HOLDS(exits == loop->exits, "a loop's exits add up", l);
    HOLDS(back == loop->back_edges && back > 0, "a loop has its ways back", l);
    HOLDS(loop->group < p->loop_n && p->loop[loop->group].group == loop->group,
          "a group is named by its main loop", l);
    HOLDS((loop->group == l) == (loop->role == AS_ROLE_MAIN), "the main loop names the group", l);
    HOLDS((size_t)loop->source + loop->sources <= p->loop_source_n, "source ranges exist", l);
    return NULL;
}

static const char *check_loops(const struct as_program *p, size_t *where)
{
    size_t blocks = 0, loops = 0;
    for (uint32_t l = 0; l < p->loop_n; l++) {
        HOLDS(p->loop[l].first_block == blocks, "the loops' blocks stand in order", l);
        blocks += p->loop[l].blocks;
        HOLDS(blocks <= p->loop_block_n, "the loops' blocks exist", l);
        const char *bad = check_loop(p, l, where);
        if (bad)
            return bad;
    }
    HOLDS(blocks == p->loop_block_n, "the loops' blocks add up", 0);
    for (size_t i = 0; i < p->body_n; i++) {
        HOLDS(p->body[i].first_loop == loops, "the bodies' loops stand in order", i);
        loops += p->body[i].loops;
    }
    HOLDS(loops == p->loop_n, "every loop is in a body", 0);
    for (uint32_t i = 0; i < p->block_n; i++)
        HOLDS(p->block[i].loop == AS_NONE || p->loop[p->block[i].loop].body == p->block[i].body,
              "a block's loop is in its body", i);
    return NULL;
}

/* Roots: the entry, and blocks without a way to them from another (second entries, dead code). */
static uint32_t reach_without(const struct as_program *p, const struct as_body *body, uint32_t gone,
                              uint32_t entry, uint8_t *seen, uint32_t *stack)
{
    uint32_t n = 0, reached = 0;
    memset(seen, 0, body->blocks);
    if (entry != gone) {
        stack[n++] = entry;
        seen[entry - body->first_block] = 1;
    }
    while (n) {
        const struct as_block *b = &p->block[stack[--n]];
        reached++;
        for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++) {
            uint32_t to = p->succ[e].block;
            if (to == gone || seen[to - body->first_block])
                continue;
            seen[to - body->first_block] = 1;
            stack[n++] = to;
        }
    }
    return reached;
}

/* Bodies with one root alone: there the definition needs no virtual root. */
static const char *check_dominators(const struct as_program *p, const struct as_body *body,
                                    size_t *where)
{
    uint8_t *seen = malloc(body->blocks + 1u);
    uint32_t *stack = malloc(sizeof *stack * (body->blocks + 1u));
    uint32_t entry = body->entry_block;
    const char *bad = NULL;
    bool whole =
        entry != AS_NONE && reach_without(p, body, AS_NONE, entry, seen, stack) == body->blocks;
    for (uint32_t v = body->first_block; whole && !bad && v < body->first_block + body->blocks;
         v++) {
        uint32_t idom = p->block[v].idom;
        *where = v;
        if (idom == AS_NONE) {
            continue; /* the entry, or several roots: a virtual one dominates */
        }
        reach_without(p, body, idom, entry, seen, stack);
        if (seen[v - body->first_block])
            bad = "no way avoids the immediate dominator";
    }
    free(seen);
    free(stack);
    return bad;
}

const char *check_program(const struct as_program *program, uint32_t slow_most, size_t *where)
{
    const char *bad = check_blocks(program, where);
    if (!bad)
        bad = check_edges(program, where);
    if (!bad)
        bad = check_loops(program, where);
    for (size_t i = 0; i < program->body_n && !bad; i++) {
        if (program->body[i].blocks <= slow_most)
            bad = check_dominators(program, &program->body[i], where);
    }
    return bad;
}
