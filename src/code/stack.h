/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How deep the stack is below the return address, followed instruction by instruction. It tells a
 * tail call through a pointer (depth 0: the frame is gone) from a jump inside the body.
 */
#ifndef AS_CODE_STACK_H
#define AS_CODE_STACK_H

#include <assay/isa.h>

#define AS_STACK_UNKNOWN INT32_MIN

struct as_stack {
    int32_t depth; /* bytes below the entry's stack pointer, or AS_STACK_UNKNOWN */
    int32_t frame; /* depth that rbp points at, or AS_STACK_UNKNOWN */
};

/* Effect of one instruction that is no jump and no return. */
void as_stack_step(struct as_stack *stack, const struct assay_insn *insn,
                   const struct assay_form *form);

#endif
