/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of forms itself, for loops over millions of records: no call and no look at how many
 * forms there are. Only for numbers out of decoded records; assay_form_get takes any.
 */
#ifndef AS_ISA_FORM_H
#define AS_ISA_FORM_H

#include <assay/isa.h>

enum { AS_FORMS_MOST = 65536 }; /* what the record's 16 bits can name */

/* An entry is written before its number is handed out and never changes; [0] stands for nothing. */
extern struct assay_form as_form_table[AS_FORMS_MOST];
extern const struct assay_form as_form_invalid;

/* What walks over all records ask of a form: a byte each, so that those of a binary stay in the
 * first cache. Written as the table is. */
enum as_form_flow {
    AS_FORM_GOES_ON = 1 << 0, /* what stands behind it is done next, and it is no call */
    AS_FORM_LEADS = 1 << 1,   /* has a direct target */
    AS_FORM_CALLS = 1 << 2,
    AS_FORM_STACKS = 1 << 3, /* push, pop and the like */
    AS_FORM_ADDRESS = 1 << 4 /* its immediate may be an address (position-dependent code) */
};
extern uint8_t as_form_flows[AS_FORMS_MOST];

static inline const struct assay_form *as_form_of(const struct assay_insn *insn)
{
    return insn->form ? &as_form_table[insn->form] : &as_form_invalid;
}

/* As assay_insn_target. */
static inline bool as_insn_target(const struct assay_insn *insn, uint64_t *target)
{
    const struct assay_form *form = as_form_of(insn);
    if (!form->operands || form->operand[0].kind != ASSAY_OPERAND_REL)
        return false;
    int64_t wrap = insn->wrap & ASSAY_WRAP_IMM ? (int64_t)1 << 32 : 0;
    *target = insn->address + (uint64_t)(insn->imm + wrap);
    return true;
}

#endif
