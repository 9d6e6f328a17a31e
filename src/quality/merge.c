/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks that go on from entry to entry, and merges of sorted data. By single instructions: knows
 * no values, and follows no copies of registers but those of an extension.
 */
#include "quality/merge.h"

#define GENERAL_REGS 16

static const struct as_insn *insn_at(const struct as_program *program, const struct as_block *block,
                                     uint32_t k)
{
    return &program->code.insn[block->first_insn + k];
}

static bool is_inside_of(const struct as_program *program, uint32_t inner, uint32_t loop)
{
    while (inner != AS_NONE && inner != loop)
        inner = program->loop[inner].parent;
    return inner == loop;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The only general register of a set; AS_REG_NONE: it has none or several. */
static unsigned only_general(struct as_regset set)
{
    unsigned found = AS_REG_NONE;

    for (unsigned r = AS_REG_GPR; r < AS_REG_GPR + GENERAL_REGS; r++) {
        if (!as_regset_has(set, r))
            continue;
        if (found != AS_REG_NONE)
            return AS_REG_NONE;
        found = r;
    }
    return found;
}

/* The register to which an instruction adds a constant; AS_REG_NONE: it is another one. */
static unsigned stepped_by(const struct as_insn *insn)
{
    const struct as_form *form = as_form_get(insn->form);
    struct as_memory place[2];
    struct as_effects effects;

    if (form->insn_class != AS_CLASS_ADD && form->insn_class != AS_CLASS_LEA)
        return AS_REG_NONE;
    if (form->insn_class == AS_CLASS_ADD && as_insn_memory(NULL, insn, place))
        return AS_REG_NONE;
    as_insn_effects(insn, &effects);
    const unsigned reg = only_general(effects.written);

    return reg == only_general(effects.read) ? reg : AS_REG_NONE;
}

/* Instructions of a block that step `reg`, or ones that write it otherwise. */
static uint32_t writes_of(const struct as_program *program, const struct as_block *block,
                          unsigned reg, bool steps)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < block->insns; k++) {
        struct as_effects effects;

        as_insn_effects(insn_at(program, block, k), &effects);
        if (as_regset_has(effects.written, reg))
            n += (stepped_by(insn_at(program, block, k)) == reg) == steps;
    }
    return n;
}

/* Nothing in the loop and the loops inside writes the register but steps. */
static bool only_steps(const struct as_program *program, uint32_t loop, unsigned reg)
{
    const struct as_loop *from = &program->loop[loop];

    for (uint32_t i = 0; i < from->blocks; i++)
        if (writes_of(program, &program->block[program->loop_block[from->first_block + i]], reg,
                      false))
            return false;
    return true;
}

static bool is_stepped(const struct as_program *program, uint32_t loop, unsigned reg)
{
    const struct as_loop *from = &program->loop[loop];
    uint32_t n = 0;

    for (uint32_t i = 0; i < from->blocks; i++)
        n += writes_of(program, &program->block[program->loop_block[from->first_block + i]], reg,
                       true);
    return n > 0;
}

/* ---- Loads ----------------------------------------------------------------------------------- */

/* The place of data memory that an instruction loads from; false: it loads from none. */
static bool loads_from(const struct as_insn *insn, struct as_memory *place)
{
    struct as_memory all[2];
    const int n = as_insn_memory(NULL, insn, all);

    for (int i = 0; i < n; i++)
        if (all[i].access & AS_ACCESS_READ && !all[i].stack && !all[i].rip_relative &&
            (all[i].base != AS_REG_NONE || all[i].index != AS_REG_NONE)) {
            *place = all[i];
            return true;
        }
    return false;
}

/* The register that `reg` is an extension of in a block, or itself. */
static unsigned extended_register(const struct as_program *program, const struct as_block *block,
                                  unsigned reg)
{
    for (uint32_t k = 0; k < block->insns; k++) {
        const struct as_insn *insn = insn_at(program, block, k);
        struct as_memory place[2];
        struct as_effects effects;

        if (as_form_get(insn->form)->insn_class != AS_CLASS_EXTEND ||
            as_insn_memory(NULL, insn, place))
            continue;
        as_insn_effects(insn, &effects);
        if (only_general(effects.written) == reg && only_general(effects.read) != AS_REG_NONE)
            return only_general(effects.read);
    }
    return reg;
}

static bool is_at(const struct as_program *program, const struct as_block *block,
                  const struct as_memory *place, unsigned reg)
{
    return (place->base != AS_REG_NONE && extended_register(program, block, place->base) == reg) ||
           (place->index != AS_REG_NONE && extended_register(program, block, place->index) == reg);
}

uint32_t as_merge_resumed(const struct as_program *program, uint32_t loop)
{
    const struct as_loop *from = &program->loop[loop];
    uint32_t n = 0;

    for (uint32_t i = 0; i < from->blocks && from->parent != AS_NONE; i++) {
        const struct as_block *block = &program->block[program->loop_block[from->first_block + i]];
        struct as_memory place;

        for (uint32_t k = 0; k < block->insns && block->loop == loop; k++) {
            if (!loads_from(insn_at(program, block, k), &place))
                continue;
            for (unsigned r = AS_REG_GPR; r < AS_REG_GPR + GENERAL_REGS; r++)
                n += is_at(program, block, &place, r) && is_stepped(program, loop, r) &&
                     only_steps(program, from->parent, r);
        }
    }
    return n;
}

/* ---- Merges ---------------------------------------------------------------------------------- */

/* The values that a comparison reads: loads at the address in `reg`, and loads elsewhere. */
struct compared {
    bool is_at_reg, is_elsewhere;
};

static void add_load(const struct as_program *program, const struct as_block *block,
                     const struct as_memory *place, unsigned reg, struct compared *out)
{
    *(is_at(program, block, place, reg) ? &out->is_at_reg : &out->is_elsewhere) = true;
}

/* Loads in a block to the registers `read`. */
static void add_loads(const struct as_program *program, const struct as_block *block,
                      struct as_regset read, unsigned reg, struct compared *out)
{
    for (uint32_t k = 0; k < block->insns; k++) {
        const struct as_insn *insn = insn_at(program, block, k);
        struct as_memory place;
        struct as_effects effects;

        as_insn_effects(insn, &effects);
        if (as_form_get(insn->form)->insn_class == AS_CLASS_MOVE &&
            as_regset_meets(effects.written, read) && loads_from(insn, &place))
            add_load(program, block, &place, reg, out);
    }
}

/* The comparison at the end of `block` is of what the loop loads at `reg`, and of another load. */
static bool compares_two(const struct as_program *program, uint32_t loop,
                         const struct as_block *block, unsigned reg)
{
    const struct as_loop *from = &program->loop[loop];
    struct as_effects effects = {0};
    struct compared found = {0};
    struct as_memory place;
    uint32_t k = block->insns - 1;

    while (k-- > 0) {
        as_insn_effects(insn_at(program, block, k), &effects);
        if (effects.flags_written)
            break;
    }
    if (!effects.flags_written ||
        as_form_get(insn_at(program, block, k)->form)->insn_class != AS_CLASS_COMPARE)
        return false;
    if (loads_from(insn_at(program, block, k), &place))
        add_load(program, block, &place, reg, &found);
    for (uint32_t i = 0; i < from->blocks; i++)
        add_loads(program, &program->block[program->loop_block[from->first_block + i]],
                  effects.read, reg, &found);
    return found.is_at_reg && found.is_elsewhere;
}

/* Block `way` is of that branch alone, and steps the address of a load that decided. */
static bool steps_on(const struct as_program *program, uint32_t loop, const struct as_block *block,
                     uint32_t way)
{
    const struct as_block *to = &program->block[way];

    if (to->preds != 1 && to != block)
        return false;
    for (uint32_t k = 0; k < to->insns; k++) {
        const unsigned reg = stepped_by(insn_at(program, to, k));

        if (reg != AS_REG_NONE && only_steps(program, loop, reg) &&
            compares_two(program, loop, block, reg))
            return true;
    }
    return false;
}

uint32_t as_merge_branches(const struct as_program *program, uint32_t loop)
{
    const struct as_loop *from = &program->loop[loop];
    uint32_t n = 0;

    for (uint32_t i = 0; i < from->blocks; i++) {
        const struct as_block *block = &program->block[program->loop_block[from->first_block + i]];
        const struct as_edge *to = &program->succ[block->first_succ];

        if (block->insns < 2 || block->succs != 2 ||
            as_form_get(insn_at(program, block, block->insns - 1)->form)->insn_class !=
                AS_CLASS_BRANCH)
            continue;
        bool steps = false;
        for (uint32_t k = 0; k < 2 && !steps; k++) {
            const bool stays = is_inside_of(program, program->block[to[1 - k].block].loop, loop);
            const uint32_t scope = stays ? loop : from->parent;

            steps = scope != AS_NONE &&
                    is_inside_of(program, program->block[to[k].block].loop, loop) &&
                    steps_on(program, scope, block, to[k].block);
        }
        n += steps;
    }
    return n;
}
