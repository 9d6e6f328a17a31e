/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds registers that count the iterations of a loop, and the bound that ends the loop. Both are
 * operands of the instruction that sets the flags of an exit branch.
 */
#include "code/counters.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "code/register_stride.h"

enum { BACK_BLOCKS = 8 };

struct counter_work {
    const struct as_program *program;
    uint32_t loop;
    const struct as_steps *steps;
    const struct as_evaluation *e;
};

/* ---- Exits ----------------------------------------------------------------------------------- */

static bool leaves(const struct counter_work *w, const struct as_block *b)
{
    for (uint32_t k = 0; k < b->succs; k++) {
        if (!as_loop_holds(w->program, w->loop, w->program->succ[b->first_succ + k].block))
            return true;
    }
    return false;
}

/* Returns the general registers that an instruction reads as values, not as parts of an address. */
static uint32_t read_values(const struct as_insn *insn)
{
    const struct as_form *form = as_form_of(insn);
    uint32_t read = (uint32_t)form->implicit_read.word[0] & 0xffff;
    for (unsigned i = 0; i < form->operands; i++) {
        const struct as_operand *o = &form->operand[i];
        if (o->kind == AS_OPERAND_REG && o->access & AS_ACCESS_READ && insn->reg[o->slot] < AS_GPRS)
            read |= 1u << insn->reg[o->slot];
    }
    return read;
}

/* Returns the instruction that sets the flags for the branch at the end of a block. Returns NULL if
 * there is none. A branch that reads a register itself (jrcxz, loop) is its own test. */
static const struct as_insn *test_of(const struct counter_work *w, uint32_t block)
{
    const struct as_iteration_view *view = w->steps->view;
    uint32_t step = view->start[block + 1];
    if (step == view->start[block])
        return NULL;
    const struct as_insn *last = as_step_insn(w->steps, step - 1);
    const struct as_form *form = as_form_of(last);
    const uint8_t flags = form->flags_read;
    if (form->insn_class != AS_CLASS_BRANCH)
        return NULL;
    if (!flags)
        return last;
    step--;
    for (unsigned back = 0; back < BACK_BLOCKS; back++) {
        while (step-- > view->start[block]) {
            if (w->steps->effects[step].flags_written & flags)
                return as_step_insn(w->steps, step);
        }
        if (as_iteration_view_preds(view, block) != 1)
            return NULL;
        block = as_iteration_view_pred(view, block, 0);
        step = view->start[block + 1];
    }
    return NULL;
}

/* ---- Limits ---------------------------------------------------------------------------------- */

/* Reads one side of a comparison: a general register of 4 or 8 bytes, or a constant. Returns false
 * for other operands. */
static bool side_of(const struct as_insn *insn, const struct as_operand *operand, uint8_t *reg,
                    int64_t *constant)
{
    *reg = AS_REG_NONE;
    *constant = insn->imm;
    if (operand->kind == AS_OPERAND_IMM)
        return !operand->fixed && !(insn->wrap & AS_WRAP_IMM);
    if (operand->kind != AS_OPERAND_REG || operand->width_b < 4 ||
        insn->reg[operand->slot] >= AS_GPRS)
        return false;
    *reg = insn->reg[operand->slot];
    return true;
}

/* Reads the two sides of a comparison: `cmp a, b`, or a result and 0. Returns false for other
 * instructions. */
static bool compared(const struct as_insn *insn, uint8_t reg[2], int64_t constant[2])
{
    const struct as_form *form = as_form_of(insn);
    const struct as_operand *operand = form->operand;
    const bool is_test = strcmp(form->mnemonic, "test") == 0;

    if (form->operands < 1 || !side_of(insn, &operand[0], &reg[0], &constant[0]))
        return false;
    reg[1] = AS_REG_NONE;
    constant[1] = 0;
    if (form->insn_class == AS_CLASS_ADD)
        return reg[0] != AS_REG_NONE;
    if (form->operands < 2 || !side_of(insn, &operand[1], &reg[1], &constant[1]))
        return false;
    if (is_test && reg[0] == reg[1]) {
        reg[1] = AS_REG_NONE;
        constant[1] = 0;
        return true;
    }
    return strcmp(form->mnemonic, "cmp") == 0;
}

/* Returns the limit of the loop, all zero if there is none. The counter may be on either side; the
 * other side must stay the same. */
static struct as_loop_limit limit_of(const struct counter_work *w, const struct as_insn *insn)
{
    uint8_t reg[2];
    int64_t constant[2], step;

    if (!compared(insn, reg, constant))
        return (struct as_loop_limit){0};
    for (unsigned side = 0; side < 2; side++) {
        const uint8_t other = reg[!side];
        if (reg[side] == AS_REG_NONE || !as_evaluate_step(w->e, reg[side], &step) || !step ||
            (other != AS_REG_NONE && !as_register_stays(w->e, other)))
            continue;
        return (struct as_loop_limit){.step = step,
                                      .bound = constant[!side],
                                      .reg = reg[side],
                                      .bound_reg = other,
                                      .width_b = (uint8_t)as_form_of(insn)->operand[0].width_b};
    }
    return (struct as_loop_limit){0};
}

int as_counters_find(const struct as_program *program, uint32_t loop, const struct as_steps *steps,
                     const struct as_evaluation *e, struct as_streams *out)
{
    const struct counter_work w = {program, loop, steps, e};
    uint32_t read = 0;
    for (uint32_t i = 0; i < steps->view->n; i++) {
        const struct as_insn *test =
            leaves(&w, as_iteration_view_block(steps->view, i)) ? test_of(&w, i) : NULL;
        if (!test)
            continue;
        read |= read_values(test);
        if (!out->limit.step)
            out->limit = limit_of(&w, test);
    }
    out->induction = as_calloc(AS_GPRS, sizeof *out->induction);
    if (!out->induction)
        return AS_ERR_NOMEM;
    for (unsigned reg = 0; reg < AS_GPRS; reg++) {
        int64_t step;
        if (as_evaluate_step(e, reg, &step) && step)
            out->induction[out->induction_n++] = (struct as_induction){
                .reg = (uint8_t)reg, .controls = read >> reg & 1, .step = step};
    }
    return 0;
}
