/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks the x87 stack at rename: the register of each stack place after the instructions so far.
 * Pushes and pops rotate the names, fxch exchanges two of them. No value moves.
 */
#ifndef AS_PREDICT_X87_H
#define AS_PREDICT_X87_H

#include "isa/isa.h"

struct as_x87 {
    uint8_t st[8]; /* register that is st(i) */
};

void as_x87_init(struct as_x87 *stack);
/* Returns the place of the value of a register operand. For an x87 operand this is the register
 * that is st(i) now. */
unsigned as_x87_place(const struct as_x87 *stack, unsigned reg);
/* Describe the effect of an instruction on the stack. It pushes before it writes and pops after it
 * has written. */
bool as_x87_pushes(const struct as_form *form);
unsigned as_x87_pops(const struct as_form *form);
bool as_x87_swaps(const struct as_form *form);
/* Return true if the instruction reads or writes st(i) without naming it; i is 0 or 1. Reads use
 * the numbers before a push, writes those after it. Both use the numbers before a pop. */
bool as_x87_reads(const struct as_form *form, unsigned i);
bool as_x87_writes(const struct as_form *form, unsigned i);
void as_x87_push(struct as_x87 *stack);
void as_x87_pop(struct as_x87 *stack);
void as_x87_swap(struct as_x87 *stack, const struct as_insn *insn);

#endif
