/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the registers and flags of one instruction as sets. The sets include explicit, implicit and
 * address registers. Rules of partial writes: SDM 1, 3.4.1.1; upper bits of vector registers:
 * 14.1.3.
 */
#include "isa/form.h"
#include "isa/internal.h"

#include <string.h>

static bool is_gpr(unsigned reg)
{
    return reg < AS_REG_VEC;
}

static bool is_vector(unsigned reg)
{
    return reg >= AS_REG_VEC && reg < AS_REG_MASK;
}

/* Returns the number of registers that an operand names: mostly one, sometimes an aligned block of
 * 2 or 4. */
static unsigned effect_block(const struct as_operand *o, unsigned reg)
{
    if (is_vector(reg) && o->width_b > 64)
        return o->width_b / 64u;
    if (reg >= AS_REG_MASK && reg < AS_REG_X87 && o->width_b > 8)
        return o->width_b / 8u;
    return 1;
}

static void write_register(const struct as_form *form, const struct as_operand *o, unsigned reg,
                           struct as_effects *out)
{
    bool vex = form->traits & AS_TRAIT_VEX;
    as_regset_add(&out->written, reg);
    if (o->access & (AS_ACCESS_MAYBE | AS_ACCESS_MERGE)) {
        as_regset_add(&out->merged, reg);
        as_regset_add(&out->read, reg);
    }
    if (is_vector(reg)) {
        if (!vex)
            as_regset_add(&out->merged, reg);
        else if (o->width_b < 64)
            as_regset_add(&out->cleared, reg);
    } else if (is_gpr(reg) && o->width_b == 4) {
        as_regset_add(&out->cleared, reg);
    }
}

static void operand_effects(const struct as_insn *insn, const struct as_form *form,
                            const struct as_operand *o, struct as_effects *out)
{
    unsigned reg = insn->reg[o->slot];
    unsigned n = effect_block(o, reg);
    if (n > 1)
        reg &= ~(n - 1);
    bool idiom = insn->bits & AS_INSN_IDIOM;
    for (unsigned i = 0; i < n; i++, reg++) {
        if (o->access & AS_ACCESS_READ && !idiom)
            as_regset_add(&out->read, reg);
        if (o->access & AS_ACCESS_WRITE)
            write_register(form, o, reg, out);
    }
}

static void address_effects(const struct as_insn *insn, struct as_effects *out)
{
    if (!(insn->bits & AS_INSN_MEM))
        return;
    as_regset_add(&out->read, insn->base);
    as_regset_add(&out->read, insn->index);
    as_regset_add(&out->read, insn->segment);
}

static void mask_effects(const struct as_insn *insn, const struct as_form *form,
                         struct as_effects *out)
{
    if (insn->mask == AS_REG_NONE)
        return;
    as_regset_add(&out->read, insn->mask);
    if (form->insn_class == AS_CLASS_GATHER || form->insn_class == AS_CLASS_SCATTER ||
        (form->insn_class == AS_CLASS_PREFETCH && form->traits & AS_TRAIT_EVEX)) {
        as_regset_add(&out->written, insn->mask);
    }
}

/* Clears the written flags of a shift by an immediate count of zero. */
static void shift_by_zero(const struct as_insn *insn, const struct as_form *form,
                          struct as_effects *out)
{
    unsigned last = form->operands;
    if (form->insn_class != AS_CLASS_SHIFT || !form->flags_written || !last ||
        form->operand[last - 1].kind != AS_OPERAND_IMM)
        return;
    unsigned mask = form->operand[0].width_b == 8 ? 63 : 31;
    if (!((unsigned)insn->imm & mask))
        out->flags_maybe = out->flags_written = out->flags_undefined = 0;
}

void as_insn_effects(const struct as_insn *insn, struct as_effects *out)
{
    const struct as_form *form = as_form_of(insn);
    memset(out, 0, sizeof *out);
    out->read = form->implicit_read;
    out->written = form->implicit_write;
    out->merged = form->implicit_merge;
    out->cleared = form->implicit_clear;
    as_regset_join(&out->read, form->implicit_merge);
    out->flags_read = form->flags_read;
    out->flags_written = form->flags_written;
    out->flags_undefined = form->flags_undefined;
    out->flags_maybe = form->flags_maybe;
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_REG)
            operand_effects(insn, form, &form->operand[i], out);
    address_effects(insn, out);
    mask_effects(insn, form, out);
    shift_by_zero(insn, form, out);
}
