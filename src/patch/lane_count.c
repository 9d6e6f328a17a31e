/* SPDX-License-Identifier: Apache-2.0 */
/* Finds how much an instruction does when it runs. Sources: Intel SDM 1, 15.6; SDM 2, MASKMOV,
 * VMASKMOV, REP. */
#include "patch/lane_count.h"

#include <string.h>

#include "isa/form.h"

#define LANES_MOST 64

static bool has_prefix(const char *word, const char *prefix)
{
    return strncmp(word, prefix, strlen(prefix)) == 0;
}

/* Returns the number of mask bits that guard lanes: mostly one per computed element. */
static unsigned mask_bits(const struct as_form *form)
{
    const char *name = form->mnemonic ? form->mnemonic : "";
    const size_t n = strlen(name);
    if (form->insn_class == AS_CLASS_EXTRACT && form->element_b)
        return form->operand[0].width_b / form->element_b;
    if (form->insn_class == AS_CLASS_DOT)
        return form->vector_b / 4u; /* one per sum */
    if (n > 3 && name[n - 3] == 'c' && form->element == AS_ELEMENT_F16 &&
        (form->insn_class == AS_CLASS_MUL || form->insn_class == AS_CLASS_FMA))
        return form->lanes > 1 ? form->lanes / 2u : 1; /* pairs: complex numbers */
    return form->lanes;
}

static struct as_amount by_signs(const struct as_insn *insn, unsigned operand, unsigned element_b,
                                 unsigned lanes)
{
    const struct as_form *form = as_form_of(insn);
    const struct as_operand *mask = &form->operand[operand];
    const struct as_amount it = {.kind = AS_AMOUNT_SIGNS,
                                 .reg = (uint8_t)(insn->reg[mask->slot] - AS_REG_VEC),
                                 .element_b = (uint8_t)element_b,
                                 .wide = mask->file == AS_FILE_YMM,
                                 .lanes = (uint16_t)lanes};
    const bool is_known = operand < form->operands && mask->kind == AS_OPERAND_REG &&
                          (mask->file == AS_FILE_XMM || mask->file == AS_FILE_YMM) && it.reg < 16 &&
                          lanes && lanes <= LANES_MOST;
    return is_known ? it : (struct as_amount){.kind = AS_AMOUNT_UNKNOWN, .lanes = (uint16_t)lanes};
}

static struct as_amount of_mask(const struct as_insn *insn)
{
    const unsigned lanes = mask_bits(as_form_of(insn));
    if (insn->mask == AS_REG_NONE || lanes == 0 || lanes > LANES_MOST)
        return (struct as_amount){.kind = AS_AMOUNT_UNKNOWN, .lanes = (uint16_t)lanes};
    return (struct as_amount){.kind = AS_AMOUNT_MASK,
                              .reg = (uint8_t)(insn->mask - AS_REG_MASK),
                              .lanes = (uint16_t)lanes};
}

struct as_amount as_amount_of(const struct as_insn *insn)
{
    const struct as_form *form = as_form_of(insn);
    const char *name = form->mnemonic ? form->mnemonic : "";
    if (form->insn_class == AS_CLASS_STRING && form->traits & AS_TRAIT_REP)
        return (struct as_amount){.kind = AS_AMOUNT_REPEATS, .ends_early = form->flags_written};
    if (insn->mask != AS_REG_NONE)
        return of_mask(insn);
    if (has_prefix(name, "vmaskmovp") || has_prefix(name, "vpmaskmov"))
        return by_signs(insn, 1, form->element_b,
                        form->element_b ? form->vector_b / form->element_b : 0);
    if (form->insn_class == AS_CLASS_GATHER && !(form->traits & AS_TRAIT_EVEX))
        return by_signs(insn, 2, form->element_b, form->lanes);
    if (has_prefix(name, "maskmovdqu") || has_prefix(name, "vmaskmovdqu"))
        return by_signs(insn, 1, 1, 16);
    if (has_prefix(name, "maskmovq"))
        return (struct as_amount){.kind = AS_AMOUNT_UNKNOWN, .lanes = 8};
    return (struct as_amount){.kind = AS_AMOUNT_FIXED};
}
