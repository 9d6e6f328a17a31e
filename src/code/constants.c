/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Propagates constants forward over the general registers. Sources of constants are lea of an
 * address, mov of an immediate, and copies. Every other write, and every call, makes its registers
 * varying. Code behind an unresolved jump is unreached and contributes nothing. Once the jump is
 * resolved, the next round checks the result. Source: Kildall, "A unified approach to global
 * program optimization", POPL 1973.
 */
#include "code/constants.h"

#include <assert.h>
#include <string.h>

#include "base/search.h"

#define CALLER_SAVED 0x0fc7 /* rax rcx rdx rsi rdi r8-r11 (AMD64 supplement, 3.2.1) */

static void set_constant(struct as_constants_block *state, unsigned reg, uint64_t value)
{
    state->known |= (uint16_t)(1u << reg);
    state->varying &= (uint16_t) ~(1u << reg);
    state->value[reg] = value;
}

static void vary(struct as_constants_block *state, unsigned regs)
{
    state->varying |= (uint16_t)regs;
    state->known &= (uint16_t)~regs;
}

static void step(struct as_constants_block *state, const struct as_insn *insn)
{
    const struct as_form *form = as_form_of(insn);
    struct as_effects effects;
    if (form->insn_class == AS_CLASS_CALL) {
        vary(state, CALLER_SAVED);
        return;
    }
    uint8_t to = form->operands >= 2 && form->operand[0].kind == AS_OPERAND_REG &&
                         form->operand[0].width_b >= 4
                     ? insn->reg[form->operand[0].slot]
                     : AS_REG_NONE;
    uint64_t address;
    if (to < 16 && form->insn_class == AS_CLASS_LEA && form->operand[0].width_b == 8 &&
        as_insn_memory_address(insn, &address)) {
        set_constant(state, to, address);
        return;
    }
    if (to < 16 && form->insn_class == AS_CLASS_MOVE && form->operands == 2) {
        uint8_t from = insn->reg[form->operand[1].slot];
        if (form->operand[1].kind == AS_OPERAND_IMM && form->operand[0].width_b == 4) {
            set_constant(state, to, (uint32_t)insn->imm);
            return;
        }
        if (form->operand[1].kind == AS_OPERAND_REG && form->operand[1].width_b == 8 && from < 16 &&
            (state->known >> from & 1)) {
            set_constant(state, to, state->value[from]);
            return;
        }
    }
    as_insn_effects(insn, &effects);
    vary(state, (unsigned)(effects.written.word[0] & 0xffff));
}

/* Merges `from` into `into`. Returns true if this changes `into`. */
static bool merge_constants(struct as_constants_block *into, const struct as_constants_block *from)
{
    unsigned varying = into->varying | from->varying;
    unsigned known = into->known;
    for (unsigned reg = 0; reg < 16; reg++) {
        if (!(from->known >> reg & 1) || (varying >> reg & 1))
            continue;
        if (!(known >> reg & 1))
            into->value[reg] = from->value[reg];
        else if (into->value[reg] != from->value[reg])
            varying |= 1u << reg;
        known |= 1u << reg;
    }
    known &= ~varying;
    bool changed = known != into->known || varying != into->varying;
    into->known = (uint16_t)known;
    into->varying = (uint16_t)varying;
    return changed;
}

int as_constants_find(const struct as_builder *b, const struct as_flow *flow,
                      struct as_arena *arena, struct as_constants *out)
{
    uint32_t n = flow->blocks, depth = 0;
    uint32_t *stack = as_arena_array(arena, uint32_t, (size_t)n + 1);
    bool *waits = as_arena_array(arena, bool, (size_t)n + 1);
    *out = (struct as_constants){.flow = flow, .b = b};
    out->block = as_arena_array(arena, struct as_constants_block, (size_t)n + 1);
    if (!stack || !waits || !out->block)
        return AS_ERR_NOMEM;
    for (uint32_t v = n; v-- > 0;) {
        bool is_entry = flow->block[v].is_root && !(flow->block[v].bits & AS_BLOCK_UNREACHED);
        if (is_entry || (flow->block[v].bits & AS_BLOCK_LANDING))
            vary(&out->block[v], 0xffff);
        stack[depth++] = v;
        waits[v] = true;
    }
    while (depth) { /* each block waits at most once */
        uint32_t v = stack[--depth];
        const struct as_flow_block *block = &flow->block[v];
        struct as_constants_block state = out->block[v];
        waits[v] = false;
        for (uint32_t i = 0; i < block->insns; i++)
            step(&state, &b->program->code.insn[block->first_insn + i]);
        for (uint32_t e = block->first_edge; e < block->first_edge + block->edges; e++) {
            uint32_t to = flow->edge[e].to;
            if (merge_constants(&out->block[to], &state) && !waits[to]) {
                waits[to] = true;
                stack[depth++] = to;
            }
        }
    }
    return 0;
}

bool as_constant_at(const struct as_constants *constants, size_t insn, uint8_t reg, uint64_t *value)
{
    const struct as_flow *flow = constants->flow;
    const uint32_t after = as_first_not(k, flow->blocks, flow->block[k].first_insn <= insn);
    assert(after < 2 || flow->block[after - 2].first_insn <= flow->block[after - 1].first_insn);
    const struct as_flow_block *in = flow->block + after - 1;
    if (reg >= 16 || after == 0 || insn >= (size_t)in->first_insn + in->insns)
        return false;
    struct as_constants_block state = constants->block[after - 1];
    for (size_t i = in->first_insn; i < insn; i++)
        step(&state, &constants->b->program->code.insn[i]);
    *value = state.value[reg];
    return state.known >> reg & 1;
}
