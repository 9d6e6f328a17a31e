/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of instructions that count as floating-point arithmetic. */
#ifndef AS_QUALITY_ARITHMETIC_H
#define AS_QUALITY_ARITHMETIC_H

#include "isa/isa.h"

static inline bool as_quality_arithmetic(const struct assay_form *form)
{
    switch (form->insn_class) {
    case ASSAY_CLASS_ADD:
    case ASSAY_CLASS_MUL:
    case ASSAY_CLASS_FMA:
    case ASSAY_CLASS_DIV:
    case ASSAY_CLASS_SQRT:
        return form->traits & ASSAY_TRAIT_FP;
    default:
        return false;
    }
}

#endif
