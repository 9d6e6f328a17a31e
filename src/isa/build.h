/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between reference.c and build.c only: the two files that see the decoder library's types.
 */
#ifndef AS_ISA_BUILD_H
#define AS_ISA_BUILD_H

#include <Zydis/Zydis.h>

#include "isa/internal.h"

/* Register number of ours and its width as a register, in bytes. */
struct as_named {
    uint8_t reg; /* ASSAY_REG_NONE when not modelled (flags) */
    uint8_t high;
    uint16_t width_b;
};
struct as_named as_register_of(ZydisRegister reg);

/* An operand that stands in the record: what the assembler writes, less the mask. */
static inline bool as_operand_shown(const ZydisDecodedOperand *o)
{
    return (o->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT ||
            (o->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT &&
             o->type != ZYDIS_OPERAND_TYPE_MEMORY)) &&
           o->encoding != ZYDIS_OPERAND_ENCODING_MASK;
}

/* Masks what it writes. MVEX always names a mask, of which k0 is none (ISA manual 327364, 3.2). */
static inline bool as_is_masked(const ZydisDecodedInstruction *insn)
{
    return insn->avx.mask.mode > ZYDIS_MASK_MODE_DISABLED &&
           !(insn->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX &&
             (insn->avx.mask.reg == ZYDIS_REGISTER_K0 ||
              insn->avx.mask.reg == ZYDIS_REGISTER_NONE));
}

/* Extensions that the instruction needs; bits by assay_extension (extensions.c). */
uint64_t as_form_extensions(const ZydisDecodedInstruction *insn);

/* Fills `out` (zeroed first) from a decoded instruction and all its operands. */
void as_form_build(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
                   struct assay_form *out);

#endif
