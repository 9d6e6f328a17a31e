/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares what the files that use the decoder library's types share: build.c, patches.c,
 * extensions.c and reference.c.
 */
#ifndef AS_ISA_BUILD_H
#define AS_ISA_BUILD_H

#include <Zydis/Zydis.h>

#include "isa/internal.h"

/* A register of assay and its width in bytes. */
struct as_named {
    uint8_t reg; /* AS_REG_NONE for registers without a number (flags) */
    uint8_t high;
    uint16_t width_b;
};
struct as_named as_register_of(ZydisRegister reg);

/* Returns true for an operand that the record contains: an operand of the assembly text, except the
 * mask. */
static inline bool as_operand_shown(const ZydisDecodedOperand *o)
{
    return (o->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT ||
            (o->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT &&
             o->type != ZYDIS_OPERAND_TYPE_MEMORY)) &&
           o->encoding != ZYDIS_OPERAND_ENCODING_MASK;
}

/* Returns true if a mask limits the writes of the instruction. MVEX always names a mask, and k0
 * means no mask (ISA manual 327364, 3.2). */
static inline bool as_is_masked(const ZydisDecodedInstruction *insn)
{
    return insn->avx.mask.mode > ZYDIS_MASK_MODE_DISABLED &&
           !(insn->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX &&
             (insn->avx.mask.reg == ZYDIS_REGISTER_K0 ||
              insn->avx.mask.reg == ZYDIS_REGISTER_NONE));
}

/* Returns the extensions that the instruction needs; the bits are those of as_extension
 * (extensions.c). */
uint64_t as_form_extensions(const ZydisDecodedInstruction *insn);

/* Fills `out` from a decoded instruction and all its operands, starting with zeroes. */
void as_form_build(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
                   struct as_form *out);

#endif
