/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the iterations per entry of a loop from constants in the code. The loop has one block. A
 * register starts with a constant and steps by a constant. The end of the loop compares it with a
 * constant or zero.
 */
#include <math.h>
#include <string.h>

#include "quality/cqa.h"

static bool has_immediate(const struct as_form *form)
{
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_IMM)
            return true;
    return false;
}

static bool writes_register(const struct as_insn *insn, uint8_t reg)
{
    struct as_effects effects;

    as_insn_effects(insn, &effects);
    return effects.written.word[0] >> reg & 1;
}

/* Sets `*value` to the constant that the instruction writes. Returns false if it writes none. */
static bool sets_constant(const struct as_insn *insn, int64_t *value)
{
    const struct as_form *form = as_form_get(insn->form);

    *value = 0;
    if (strcmp(form->mnemonic, "xor") == 0)
        return insn->reg[0] != AS_REG_NONE && insn->reg[0] == insn->reg[1];
    *value = insn->imm;
    return strcmp(form->mnemonic, "mov") == 0 && has_immediate(form) && !insn->wrap;
}

/* Sets `*value` to the constant in `reg` at the entry of the loop with block `header`. Returns
 * false if there is none. */
static bool begins_with(const struct as_program *p, uint32_t header, uint8_t reg, int64_t *value)
{
    const struct as_block *block = &p->block[header];
    uint32_t from = AS_NONE;

    for (uint32_t i = 0; i < block->preds; i++) {
        const uint32_t pred = p->pred[block->first_pred + i].block;

        if (pred != header && from != AS_NONE)
            return false;
        from = pred == header ? from : pred;
    }
    if (from == AS_NONE)
        return false;
    const struct as_block *before = &p->block[from];
    for (uint32_t i = before->insns; i-- > 0;)
        if (writes_register(&p->code.insn[before->first_insn + i], reg))
            return sets_constant(&p->code.insn[before->first_insn + i], value);
    return false;
}

/* Sets `*value` to the constant at which the last branch ends the loop. Returns false if there is
 * none. */
static bool ends_at(const struct as_program *p, const struct as_block *block, uint8_t reg,
                    int64_t *value)
{
    if (block->insns < 2)
        return false;
    const struct as_insn *last = &p->code.insn[block->first_insn + block->insns - 1];
    const struct as_insn *told = last - 1;
    const struct as_form *form = as_form_get(told->form);
    const char *jump = as_form_get(last->form)->mnemonic;

    *value = 0;
    if (strcmp(jump, "jnz") != 0 && strcmp(jump, "jne") != 0)
        return false;
    if (strcmp(form->mnemonic, "cmp") != 0) /* the step itself sets the flags */
        return form->flags_written && writes_register(told, reg);
    *value = told->imm;
    return told->reg[0] == reg && has_immediate(form) && !told->wrap;
}

double as_cqa_trips(const struct as_program *program, uint32_t loop,
                    const struct as_streams *streams)
{
    const struct as_loop *it = loop == AS_NONE ? NULL : &program->loop[loop];

    if (!it || !streams || it->blocks != 1)
        return NAN;
    for (size_t i = 0; i < streams->induction_n; i++) {
        const struct as_induction *by = &streams->induction[i];
        int64_t from, to, distance;

        if (!by->controls || !by->step || !begins_with(program, it->header, by->reg, &from) ||
            !ends_at(program, &program->block[it->header], by->reg, &to) ||
            __builtin_sub_overflow(to, from, &distance) || distance == INT64_MIN ||
            distance % by->step != 0)
            continue;
        const int64_t trips = distance / by->step;
        if (trips > 0)
            return (double)trips;
    }
    return NAN;
}
