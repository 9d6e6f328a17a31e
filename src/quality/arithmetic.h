/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of instructions that count as floating-point arithmetic. */
#ifndef AS_QUALITY_ARITHMETIC_H
#define AS_QUALITY_ARITHMETIC_H

#include "isa/isa.h"

static inline bool as_quality_arithmetic(const struct as_form *form)
{
    switch (form->insn_class) {
    case AS_CLASS_ADD:
    case AS_CLASS_MUL:
    case AS_CLASS_FMA:
    case AS_CLASS_DIV:
    case AS_CLASS_SQRT:
        return form->traits & AS_TRAIT_FP;
    default:
        return false;
    }
}

#endif
