/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a record: whole immediates and displacements, targets, addresses, memory operands.
 */
#include "isa/form.h"

#include <assert.h>
#include <string.h>

#include "base/search.h"

static const struct assay_wide *wide_of(const struct assay_code *code, size_t index)
{
    const size_t at = as_first_not(k, code->wide_n, code->wide[k].index < index);
    assert(at + 1 >= code->wide_n || code->wide[at].index < code->wide[at + 1].index);
    return at < code->wide_n && code->wide[at].index == index ? &code->wide[at] : NULL;
}

static int64_t unwrapped(int32_t value, const struct assay_insn *insn, uint16_t bit)
{
    return value + (insn->wrap & bit ? (int64_t)1 << 32 : 0);
}

int64_t assay_code_imm(const struct assay_code *code, size_t index)
{
    const struct assay_insn *insn = &code->insn[index];
    const struct assay_wide *w;
    if (insn->bits & ASSAY_INSN_IMM64 && !(insn->bits & ASSAY_INSN_MEM) &&
        (w = wide_of(code, index)))
        return w->value;
    return unwrapped(insn->imm, insn, ASSAY_WRAP_IMM);
}

int64_t assay_code_disp(const struct assay_code *code, size_t index)
{
    const struct assay_insn *insn = &code->insn[index];
    const struct assay_wide *w;
    if (insn->bits & ASSAY_INSN_IMM64 && insn->bits & ASSAY_INSN_MEM && (w = wide_of(code, index)))
        return w->value;
    return unwrapped(insn->disp, insn, ASSAY_WRAP_DISP);
}

size_t assay_code_find(const struct assay_code *code, uint64_t address)
{
    const size_t after = as_first_not(k, code->n, code->insn[k].address <= address);
    assert(after < 2 || code->insn[after - 2].address < code->insn[after - 1].address);
    if (!after)
        return SIZE_MAX;
    const struct assay_insn *insn = &code->insn[after - 1];
    return address - insn->address < insn->length ? after - 1 : SIZE_MAX;
}

bool assay_insn_target(const struct assay_insn *insn, uint64_t *target)
{
    return as_insn_target(insn, target);
}

bool assay_insn_memory_address(const struct assay_insn *insn, uint64_t *address)
{
    if (!(insn->bits & ASSAY_INSN_MEM) || insn->index != ASSAY_REG_NONE ||
        insn->segment != ASSAY_REG_NONE)
        return false;
    int64_t disp = unwrapped(insn->disp, insn, ASSAY_WRAP_DISP);
    if (insn->base == ASSAY_REG_IP) {
        *address = insn->address + (uint64_t)disp;
        return true;
    }
    if (insn->base != ASSAY_REG_NONE || insn->bits & ASSAY_INSN_IMM64)
        return false;
    *address = (uint64_t)disp;
    return true;
}

static void explicit_memory(const struct assay_code *code, const struct assay_insn *insn,
                            const struct assay_form *form, const struct assay_operand *o,
                            struct assay_memory *out)
{
    memset(out, 0, sizeof *out);
    out->base = insn->base;
    out->index = insn->index;
    out->scale = insn->scale;
    out->segment = insn->segment;
    out->access = o->access;
    out->stack = insn->base == 4;
    out->rip_relative = insn->base == ASSAY_REG_IP;
    out->element_b = o->element_b;
    out->width_b = o->width_b;
    out->disp = unwrapped(insn->disp, insn, ASSAY_WRAP_DISP);
    if (insn->bits & ASSAY_INSN_IMM64 && code && insn >= code->insn && insn < code->insn + code->n)
        out->disp = assay_code_disp(code, (size_t)(insn - code->insn));
    if (out->rip_relative)
        out->disp += (int64_t)insn->address;
    if (form->insn_class == ASSAY_CLASS_POP && insn->base == 4)
        out->disp += o->width_b; /* SDM 2, POP: the address uses the new rsp */
}

static void implicit_memory(const struct assay_form *form, const struct assay_form_memory *m,
                            struct assay_memory *out)
{
    memset(out, 0, sizeof *out);
    out->base = m->base;
    out->index = m->index;
    out->scale = m->index != ASSAY_REG_NONE;
    out->segment = m->segment;
    out->access = m->access;
    out->stack = m->base == 4 || (form->traits & ASSAY_TRAIT_STACK) != 0;
    out->element_b = form->element_b;
    out->width_b = m->width_b;
    out->disp = m->disp;
}

int assay_insn_memory(const struct assay_code *code, const struct assay_insn *insn,
                      struct assay_memory out[2])
{
    const struct assay_form *form = as_form_of(insn);
    int n = 0;
    for (unsigned i = 0; i < form->operands && n < 2; i++)
        if (form->operand[i].kind == ASSAY_OPERAND_MEM)
            explicit_memory(code, insn, form, &form->operand[i], &out[n++]);
    for (unsigned i = 0; i < form->memories && n < 2; i++)
        implicit_memory(form, &form->memory[i], &out[n++]);
    return n;
}
