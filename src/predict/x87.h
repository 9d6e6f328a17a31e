/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The x87 stack at rename: which register each place of the stack is after the instructions so far.
 * Pushes and pops rotate the names, fxch swaps two of them; neither moves a value.
 */
#ifndef AS_PREDICT_X87_H
#define AS_PREDICT_X87_H

#include <assay/isa.h>

struct as_x87 {
    uint8_t st[8]; /* the register that st(i) is */
};

void as_x87_init(struct as_x87 *stack);
/* Returns the place of a value for a register operand: of x87 the register that st(i) is now. */
unsigned as_x87_place(const struct as_x87 *stack, unsigned reg);
/* What an instruction does to the stack: pushed before it writes; popped after it has written. */
bool as_x87_pushes(const struct assay_form *form);
unsigned as_x87_pops(const struct assay_form *form);
bool as_x87_swaps(const struct assay_form *form);
/* Whether the instruction reads st(0) or st(1) without naming it, and writes it: i before the push
 * and the pop, of a write after the push. */
bool as_x87_reads(const struct assay_form *form, unsigned i);
bool as_x87_writes(const struct assay_form *form, unsigned i);
void as_x87_push(struct as_x87 *stack);
void as_x87_pop(struct as_x87 *stack);
void as_x87_swap(struct as_x87 *stack, const struct assay_insn *insn);

#endif
