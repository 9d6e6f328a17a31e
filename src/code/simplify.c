/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges loops of the binary that the source does not have. A `continue` gives a loop two paths
 * back. If the compiler copied the step of the loop into one of them, they lead to different
 * blocks. The result looks like an inner loop. Four signs show such a loop. First, the outer header
 * reaches the inner one in a straight line without a store or a call. Second, the inner loop also
 * leaves the outer one: it has the test of the `for`. Third, the outer part changes the registers
 * that the inner loop steps only by constant steps. Fourth, the outer part has no other inner loop
 * on the way.
 */
#include <string.h>

#include "code/nest.h"

#define LEAD_INSNS_MOST  8 /* from the outer header to the inner one */
#define RETRY_INSNS_MOST 8

static const struct as_insn *insns_of(const struct as_builder *b, const struct as_flow_block *block)
{
    return &b->program->code.insn[block->first_insn];
}

/* Returns the only successor of `from`, or AS_NONE if there are several or one
 * leaves the loop. */
static uint32_t only_way(const struct as_flow *flow, const struct as_nest *nest, uint32_t loop,
                         uint32_t from)
{
    uint32_t way = AS_NONE;
    const struct as_flow_block *block = &flow->block[from];
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edges; e++) {
        uint32_t to = flow->edge[e].to;
        if (!as_nest_holds(nest, loop, to))
            return AS_NONE;
        if (way != AS_NONE && way != to)
            return AS_NONE;
        way = to;
    }
    return way;
}

static bool is_light(const struct as_builder *b, const struct as_flow_block *block)
{
    const struct as_insn *insn = insns_of(b, block);
    if (block->bits & (AS_BLOCK_CALL | AS_BLOCK_LANDING))
        return false;
    for (uint32_t i = 0; i < block->insns; i++) {
        struct as_memory memory[2];
        int n = as_insn_memory(&b->program->code, &insn[i], memory);
        for (int m = 0; m < n; m++) {
            if (memory[m].access & AS_ACCESS_WRITE)
                return false;
        }
    }
    return true;
}

/* Returns true if the outer header leads straight to the inner one. The instructions between are
 * few and have no store or call. */
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
        if (at == AS_NONE)
            return false;
    }
    return true;
}

/* Returns true if an edge of the inner loop leaves the outer one. */
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

/* Returns true if the instruction adds a constant to `reg`: add, sub, inc, dec, lea of itself. */
static bool is_step(const struct as_insn *insn, const struct as_form *form, uint8_t reg)
{
    if (form->operands == 0 || form->operand[0].kind != AS_OPERAND_REG ||
        insn->reg[form->operand[0].slot] != reg || form->operand[0].width_b < 4)
        return false;
    if (form->insn_class == AS_CLASS_LEA)
        return insn->base == reg && insn->index == AS_REG_NONE;
    return form->insn_class == AS_CLASS_ADD &&
           (form->operands == 1 ||
            (form->operands == 2 && form->operand[1].kind == AS_OPERAND_IMM));
}

struct carried {
    uint16_t stepped; /* general registers that only constant steps change */
    uint16_t other;   /* registers with other changes */
};

static void collect_writes(const struct as_builder *b, const struct as_flow_block *block,
                           struct carried *c)
{
    const struct as_insn *insn = insns_of(b, block);
    for (uint32_t i = 0; i < block->insns; i++) {
        const struct as_form *form = as_form_of(&insn[i]);
        struct as_effects effects;
        as_insn_effects(&insn[i], &effects);
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

/* Returns true if the outer part sets none of the inner loop's counters anew. */
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

/* Returns true for a loop of one block that only repeats a gather or scatter until its mask is
 * empty. */
static bool is_retry(const struct as_builder *b, const struct as_flow *flow,
                     const struct as_nest *nest, uint32_t loop)
{
    const struct as_flow_block *block = &flow->block[nest->loop[loop].header];
    const struct as_insn *insn = insns_of(b, block);
    unsigned moved = 0, tests = 0;
    if (block->insns > RETRY_INSNS_MOST)
        return false;
    for (uint32_t i = 0; i < block->insns; i++) {
        const struct as_form *form = as_form_of(&insn[i]);
        switch (form->insn_class) {
        case AS_CLASS_GATHER:
        case AS_CLASS_SCATTER:
            moved++;
            break;
        case AS_CLASS_MASK:
        case AS_CLASS_EXTRACT:
        case AS_CLASS_COMPARE:
            tests++;
            break;
        case AS_CLASS_BRANCH:
        case AS_CLASS_NOP:
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

/* Merges a loop into the loop around it. The header of a loop merged for `continue` remains the
 * target of back edges of the outer loop. */
static void merge_loop(const struct as_flow *flow, struct as_nest *nest, uint32_t loop, uint8_t bit)
{
    uint32_t outer = nest->loop[loop].parent;
    for (uint32_t v = 0; v < flow->blocks; v++) {
        if (nest->loop_of[v] == loop)
            nest->loop_of[v] = outer;
        if (nest->heads[v] == loop)
            nest->heads[v] = bit == AS_LOOP_MERGED ? outer : AS_NONE;
    }
    for (uint32_t l = 0; l < nest->loops; l++) {
        if (nest->loop[l].parent == loop)
            nest->loop[l].parent = outer;
    }
    nest->loop[outer].bits |= bit;
    nest->loop[loop].header = AS_NONE;
}

void as_nest_simplify(const struct as_builder *b, const struct as_flow *flow, struct as_nest *nest)
{
    for (uint32_t l = nest->loops; l-- > 0;) { /* inner loops come after outer ones */
        uint32_t outer = nest->loop[l].parent;
        if (outer == AS_NONE || (nest->loop[l].bits & AS_LOOP_IRREDUCIBLE) ||
            (nest->loop[outer].bits & AS_LOOP_OUTSIZE))
            continue;
        if (is_retry(b, flow, nest, l))
            merge_loop(flow, nest, l, AS_LOOP_FOLDED);
        else if (leads_straight(b, flow, nest, outer, l) && leaves_both(flow, nest, outer, l) &&
                 carries_on(b, flow, nest, outer, l))
            merge_loop(flow, nest, l, AS_LOOP_MERGED);
    }
}
