/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the depth of the stack below the return address, instruction by instruction. The depth
 * distinguishes a tail call through a pointer (depth 0: the frame is gone) from a jump inside the
 * body.
 */
#ifndef AS_CODE_STACK_H
#define AS_CODE_STACK_H

#include <string.h>

#include "isa/form.h"

#define AS_STACK_UNKNOWN INT32_MIN

struct as_stack {
    int32_t depth; /* bytes below the stack pointer at the entry, or AS_STACK_UNKNOWN */
    int32_t frame; /* depth that rbp points to, or AS_STACK_UNKNOWN */
};

/* Returns true if the instruction may change the stack or frame pointer. Few instructions name
 * these registers. */
static inline bool as_stack_is_touched(const struct as_insn *insn)
{
    uint32_t reg, other; /* one byte per register: zero for rsp (4) and rbp (5) */
    memcpy(&reg, insn->reg, sizeof reg);
    other = (reg & 0xfefefefeu) ^ 0x04040404u;
    return ((other - 0x01010101u) & ~other & 0x80808080u) ||
           as_form_flows[insn->form] & AS_FORM_STACKS;
}

/* Updates `stack` with the effect of an instruction that is neither a jump nor a return. */
void as_stack_step(struct as_stack *stack, const struct as_insn *insn, const struct as_form *form);

#endif
