/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of the binary that are none of the source. A `continue` gives a loop two ways back; where
 * the compiler copied the step of the loop into one of them, the ways lead to different blocks and
 * look like an inner loop. It is told from a true one by four signs: the outer header comes to the
 * inner one in a straight line without a store or a call; the inner loop leaves the outer one too
 * (the test of the `for` stands in it); every register that the inner loop carries on by a constant
 * keeps its value in the outer part but for such steps; and it is the outer loop's only child
 * there.
 */
#include <string.h>

#include "code/nest.h"

#define LEAD_INSNS_MOST  8 /* from the outer header to the inner one */
#define RETRY_INSNS_MOST 8

static const struct assay_insn *insns_of(const struct as_builder *b,
                                         const struct as_flow_block *block)
{
    return &b->program->code.insn[block->first_insn];
}

/* One way of `from` that stays in the loop, or ASSAY_NONE when none or several do. */
static uint32_t only_way(const struct as_flow *flow, const struct as_nest *nest, uint32_t loop,
                         uint32_t from)
{
    uint32_t way = ASSAY_NONE;
    const struct as_flow_block *block = &flow->block[from];
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edges; e++) {
        uint32_t to = flow->edge[e].to;
        if (!as_nest_holds(nest, loop, to))
            return ASSAY_NONE;
        if (way != ASSAY_NONE && way != to)
            return ASSAY_NONE;
        way = to;
    }
    return way;
}

static bool is_light(const struct as_builder *b, const struct as_flow_block *block)
{
    const struct assay_insn *insn = insns_of(b, block);
    if (block->bits & (ASSAY_BLOCK_CALL | ASSAY_BLOCK_LANDING))
        return false;
    for (uint32_t i = 0; i < block->insns; i++) {
        struct assay_memory memory[2];
        int n = assay_insn_memory(&b->program->code, &insn[i], memory);
        for (int m = 0; m < n; m++) {
            if (memory[m].access & ASSAY_ACCESS_WRITE)
                return false;
        }
    }
    return true;
}

/* The outer header leads to the inner one in a straight line of few, harmless instructions. */
static bool leads_straight(const struct as_builder *b, const struct as_flow *flow,
                           const struct as_nest *nest, uint32_t outer, uint32_t inner)
{
    uint32_t at = nest->loop[outer].header;
    uint32_t insns = 0;
    for (int hops = 0; at != nest->loop[inner].header; hops++) {
        insns += flow->block[at].insns;
        if (hops == 3 || insns > LEAD_INSNS_MOST || !is_light(b, &flow->block[at]) ||
            nest->loop_of[at] != outer)
            return false;
        at = only_way(flow, nest, outer, at);
        if (at == ASSAY_NONE)
            return false;
    }
    return true;
}

/* An edge of the inner loop leaves the outer one. */
static bool leaves_both(const struct as_flow *flow, const struct as_nest *nest, uint32_t outer,
                        uint32_t inner)
{
    for (uint32_t v = 0; v < flow->blocks; v++) {
        if (nest->loop_of[v] != inner)
            continue;
        const struct as_flow_block *block = &flow->block[v];
        for (uint32_t e = block->first_edge; e < block->first_edge + block->edges; e++) {
            if (!as_nest_holds(nest, outer, flow->edge[e].to))
                return true;
        }
    }
    return false;
}

/* Register += constant: add, sub, inc, dec, lea of itself. */
static bool is_step(const struct assay_insn *insn, const struct assay_form *form, uint8_t reg)
{
    if (form->operands == 0 || form->operand[0].kind != ASSAY_OPERAND_REG ||
        insn->reg[form->operand[0].slot] != reg || form->operand[0].width_b < 4)
        return false;
    if (form->insn_class == ASSAY_CLASS_LEA)
        return insn->base == reg && insn->index == ASSAY_REG_NONE;
    return form->insn_class == ASSAY_CLASS_ADD &&
           (form->operands == 1 ||
            (form->operands == 2 && form->operand[1].kind == ASSAY_OPERAND_IMM));
}

struct carried {
    uint16_t stepped; /* general registers changed only by constant steps */
    uint16_t other;   /* changed otherwise */
};

static void collect_writes(const struct as_builder *b, const struct as_flow_block *block,
                           struct carried *c)
{
    const struct assay_insn *insn = insns_of(b, block);
    for (uint32_t i = 0; i < block->insns; i++) {
        const struct assay_form *form = as_form_of(&insn[i]);
        struct assay_effects effects;
        assay_insn_effects(&insn[i], &effects);
        unsigned written = (unsigned)(effects.written.word[0] & 0xffff) & ~(1u << 4);
        for (unsigned reg = 0; written; reg++, written >>= 1) {
            if (!(written & 1))
                continue;
            if (is_step(&insn[i], form, (uint8_t)reg))
                c->stepped |= (uint16_t)(1u << reg);
            else
                c->other |= (uint16_t)(1u << reg);
        }
    }
}

/* The inner loop's steps go on in the outer part: none of its counters is set anew there. */
static bool carries_on(const struct as_builder *b, const struct as_flow *flow,
                       const struct as_nest *nest, uint32_t outer, uint32_t inner)
{
    struct carried in = {0}, out = {0};
    for (uint32_t v = 0; v < flow->blocks; v++) {
        if (nest->loop_of[v] == inner)
            collect_writes(b, &flow->block[v], &in);
        else if (as_nest_holds(nest, outer, v))
            collect_writes(b, &flow->block[v], &out);
    }
    uint16_t counters = in.stepped & (uint16_t)~in.other;
    return counters && !(counters & out.other);
}

/* ---- Gather and scatter retry loops ------------------------------------------------------ */

/* One block that repeats a gather or scatter while its mask is not empty, and nothing else. */
static bool is_retry(const struct as_builder *b, const struct as_flow *flow,
                     const struct as_nest *nest, uint32_t loop)
{
    const struct as_flow_block *block = &flow->block[nest->loop[loop].header];
    const struct assay_insn *insn = insns_of(b, block);
    unsigned moved = 0, tests = 0;
    if (block->insns > RETRY_INSNS_MOST)
        return false;
    for (uint32_t i = 0; i < block->insns; i++) {
        const struct assay_form *form = as_form_of(&insn[i]);
        switch (form->insn_class) {
        case ASSAY_CLASS_GATHER:
        case ASSAY_CLASS_SCATTER:
            moved++;
            break;
        case ASSAY_CLASS_MASK:
        case ASSAY_CLASS_EXTRACT:
        case ASSAY_CLASS_COMPARE:
            tests++;
            break;
        case ASSAY_CLASS_BRANCH:
        case ASSAY_CLASS_NOP:
            break;
        default:
            return false;
        }
    }
    if (moved != 1 || tests == 0)
        return false;
    for (uint32_t v = 0; v < flow->blocks; v++) {
        if (v != nest->loop[loop].header && as_nest_holds(nest, loop, v))
            return false;
    }
    return true;
}

/* The header of a merged loop stays a place where an iteration of the outer loop begins anew. */
static void merge_loop(const struct as_flow *flow, struct as_nest *nest, uint32_t loop, uint8_t bit)
{
    uint32_t outer = nest->loop[loop].parent;
    for (uint32_t v = 0; v < flow->blocks; v++) {
        if (nest->loop_of[v] == loop)
            nest->loop_of[v] = outer;
        if (nest->heads[v] == loop)
            nest->heads[v] = bit == ASSAY_LOOP_MERGED ? outer : ASSAY_NONE;
    }
    for (uint32_t l = 0; l < nest->loops; l++) {
        if (nest->loop[l].parent == loop)
            nest->loop[l].parent = outer;
    }
    nest->loop[outer].bits |= bit;
    nest->loop[loop].header = ASSAY_NONE;
}

void as_nest_simplify(const struct as_builder *b, const struct as_flow *flow, struct as_nest *nest)
{
    for (uint32_t l = nest->loops; l-- > 0;) { /* inner loops stand behind outer ones */
        uint32_t outer = nest->loop[l].parent;
        if (outer == ASSAY_NONE || (nest->loop[l].bits & ASSAY_LOOP_IRREDUCIBLE) ||
            (nest->loop[outer].bits & ASSAY_LOOP_OUTSIZE))
            continue;
        if (is_retry(b, flow, nest, l))
            merge_loop(flow, nest, l, ASSAY_LOOP_FOLDED);
        else if (leads_straight(b, flow, nest, outer, l) && leaves_both(flow, nest, outer, l) &&
                 carries_on(b, flow, nest, outer, l))
            merge_loop(flow, nest, l, ASSAY_LOOP_MERGED);
    }
}
