/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives direct access to the table of forms, for loops over millions of records. The access does
 * not check the number, so only numbers of decoded records are valid. as_form_get accepts any
 * number.
 */
#ifndef AS_ISA_FORM_H
#define AS_ISA_FORM_H

#include "isa/isa.h"

enum { AS_FORMS_MOST = 65536 }; /* numbers that the record's 16 bits can hold */

/* A form is written before its number is returned and never changes. Element 0 is unused. */
extern struct as_form as_form_table[AS_FORMS_MOST];
extern const struct as_form as_form_invalid;

/* Facts about a form that loops over all records need. They take one byte each, so those of a
 * binary stay in the first-level cache. They are written together with the table. */
enum as_form_flow {
    AS_FORM_GOES_ON = 1 << 0, /* execution continues with the next instruction; not a call */
    AS_FORM_LEADS = 1 << 1,   /* the form has a direct target */
    AS_FORM_CALLS = 1 << 2,
    AS_FORM_STACKS = 1 << 3, /* push, pop and similar */
    AS_FORM_ADDRESS = 1 << 4 /* the immediate may be an address (position-dependent code) */
};
extern uint8_t as_form_flows[AS_FORMS_MOST];

static inline const struct as_form *as_form_of(const struct as_insn *insn)
{
    return insn->form ? &as_form_table[insn->form] : &as_form_invalid;
}

/* Does the same as as_insn_target. */
static inline bool as_insn_target_fast(const struct as_insn *insn, uint64_t *target)
{
    const struct as_form *form = as_form_of(insn);
    if (!form->operands || form->operand[0].kind != AS_OPERAND_REL)
        return false;
    int64_t wrap = insn->wrap & AS_WRAP_IMM ? (int64_t)1 << 32 : 0;
    *target = insn->address + (uint64_t)(insn->imm + wrap);
    return true;
}

#endif
