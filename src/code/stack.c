/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the stack pointer through prologues and epilogues of compilers. Any other instruction
 * makes the depth unknown until the frame pointer restores it.
 */
#include "code/stack.h"

#include <string.h>

#define RSP (AS_REG_GPR + 4)
#define RBP (AS_REG_GPR + 5)

static void set_stack_pointer(struct as_stack *stack, const struct as_insn *insn,
                              const struct as_form *form)
{
    bool by_immediate = form->operands == 2 && form->operand[1].kind == AS_OPERAND_IMM;
    int32_t base = AS_STACK_UNKNOWN;
    switch (form->insn_class) {
    case AS_CLASS_ADD:
        if (!by_immediate || stack->depth == AS_STACK_UNKNOWN)
            break;
        if (strcmp(form->mnemonic, "sub") == 0)
            base = stack->depth + insn->imm;
        else if (strcmp(form->mnemonic, "add") == 0)
            base = stack->depth - insn->imm;
        break;
    case AS_CLASS_LEA:
        if (insn->index == AS_REG_NONE && (insn->base == RSP || insn->base == RBP))
            base = insn->base == RSP ? stack->depth : stack->frame;
        if (base != AS_STACK_UNKNOWN)
            base -= insn->disp;
        break;
    case AS_CLASS_MOVE:
        if (form->operands == 2 && form->operand[1].kind == AS_OPERAND_REG &&
            insn->reg[form->operand[1].slot] == RBP)
            base = stack->frame;
        break;
    default:
        break;
    }
    stack->depth = base;
}

void as_stack_step(struct as_stack *stack, const struct as_insn *insn, const struct as_form *form)
{
    bool known = stack->depth != AS_STACK_UNKNOWN;
    switch (form->insn_class) {
    case AS_CLASS_PUSH:
        if (strcmp(form->mnemonic, "enter") == 0)
            stack->depth = stack->frame = AS_STACK_UNKNOWN;
        else if (known && form->memories)
            stack->depth += form->memory[0].width_b;
        return;
    case AS_CLASS_POP:
        if (strcmp(form->mnemonic, "leave") == 0) {
            stack->depth = stack->frame == AS_STACK_UNKNOWN ? AS_STACK_UNKNOWN : stack->frame - 8;
            return;
        }
        if (form->operands && insn->reg[form->operand[0].slot] == RSP)
            stack->depth = AS_STACK_UNKNOWN;
        else if (known && form->memories)
            stack->depth -= form->memory[0].width_b;
        return;
    default:
        break;
    }
    if (form->operands == 0 || form->operand[0].kind != AS_OPERAND_REG ||
        !(form->operand[0].access & AS_ACCESS_WRITE))
        return;
    uint8_t written = insn->reg[form->operand[0].slot];
    if (written == RSP)
        set_stack_pointer(stack, insn, form);
    else if (written == RBP && form->insn_class == AS_CLASS_MOVE && form->operands == 2 &&
             form->operand[1].kind == AS_OPERAND_REG && insn->reg[form->operand[1].slot] == RSP)
        stack->frame = stack->depth;
}
