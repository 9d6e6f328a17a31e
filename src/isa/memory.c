/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a record: whole immediates and displacements, targets, addresses, memory operands.
 */
#include "isa/form.h"

#include <assert.h>
#include <string.h>

#include "base/search.h"

static const struct as_wide *wide_of(const struct as_code *code, size_t index)
{
    const size_t at = as_first_not(k, code->wide_n, code->wide[k].index < index);
    assert(at + 1 >= code->wide_n || code->wide[at].index < code->wide[at + 1].index);
    return at < code->wide_n && code->wide[at].index == index ? &code->wide[at] : NULL;
}

static int64_t unwrapped(int32_t value, const struct as_insn *insn, uint16_t bit)
{
    return value + (insn->wrap & bit ? (int64_t)1 << 32 : 0);
}

int64_t as_code_imm(const struct as_code *code, size_t index)
{
    const struct as_insn *insn = &code->insn[index];
    const struct as_wide *w;
    if (insn->bits & AS_INSN_IMM64 && !(insn->bits & AS_INSN_MEM) && (w = wide_of(code, index)))
        return w->value;
    return unwrapped(insn->imm, insn, AS_WRAP_IMM);
}

int64_t as_code_disp(const struct as_code *code, size_t index)
{
    const struct as_insn *insn = &code->insn[index];
    const struct as_wide *w;
    if (insn->bits & AS_INSN_IMM64 && insn->bits & AS_INSN_MEM && (w = wide_of(code, index)))
        return w->value;
    return unwrapped(insn->disp, insn, AS_WRAP_DISP);
}

size_t as_code_find(const struct as_code *code, uint64_t address)
{
    const size_t after = as_first_not(k, code->n, code->insn[k].address <= address);
    assert(after < 2 || code->insn[after - 2].address < code->insn[after - 1].address);
    if (!after)
        return SIZE_MAX;
    const struct as_insn *insn = &code->insn[after - 1];
    return address - insn->address < insn->length ? after - 1 : SIZE_MAX;
}

bool as_insn_target(const struct as_insn *insn, uint64_t *target)
{
    return as_insn_target_fast(insn, target);
}

bool as_insn_memory_address(const struct as_insn *insn, uint64_t *address)
{
    if (!(insn->bits & AS_INSN_MEM) || insn->index != AS_REG_NONE || insn->segment != AS_REG_NONE)
        return false;
    int64_t disp = unwrapped(insn->disp, insn, AS_WRAP_DISP);
    if (insn->base == AS_REG_IP) {
        *address = insn->address + (uint64_t)disp;
        return true;
    }
    if (insn->base != AS_REG_NONE || insn->bits & AS_INSN_IMM64)
        return false;
    *address = (uint64_t)disp;
    return true;
}

static void explicit_memory(const struct as_code *code, const struct as_insn *insn,
                            const struct as_form *form, const struct as_operand *o,
                            struct as_memory *out)
{
    memset(out, 0, sizeof *out);
    out->base = insn->base;
    out->index = insn->index;
    out->scale = insn->scale;
    out->segment = insn->segment;
    out->access = o->access;
    out->stack = insn->base == 4;
    out->rip_relative = insn->base == AS_REG_IP;
    out->element_b = o->element_b;
    out->width_b = o->width_b;
    out->disp = unwrapped(insn->disp, insn, AS_WRAP_DISP);
    if (insn->bits & AS_INSN_IMM64 && code && insn >= code->insn && insn < code->insn + code->n)
        out->disp = as_code_disp(code, (size_t)(insn - code->insn));
    if (out->rip_relative)
        out->disp += (int64_t)insn->address;
    if (form->insn_class == AS_CLASS_POP && insn->base == 4)
        out->disp += o->width_b; /* SDM 2, POP: the address uses the new rsp */
}

static void implicit_memory(const struct as_form *form, const struct as_form_memory *m,
                            struct as_memory *out)
{
    memset(out, 0, sizeof *out);
    out->base = m->base;
    out->index = m->index;
    out->scale = m->index != AS_REG_NONE;
    out->segment = m->segment;
    out->access = m->access;
    out->stack = m->base == 4 || (form->traits & AS_TRAIT_STACK) != 0;
    out->element_b = form->element_b;
    out->width_b = m->width_b;
    out->disp = m->disp;
}

int as_insn_memory(const struct as_code *code, const struct as_insn *insn, struct as_memory out[2])
{
    const struct as_form *form = as_form_of(insn);
    int n = 0;
    for (unsigned i = 0; i < form->operands && n < 2; i++)
        if (form->operand[i].kind == AS_OPERAND_MEM)
            explicit_memory(code, insn, form, &form->operand[i], &out[n++]);
    for (unsigned i = 0; i < form->memories && n < 2; i++)
        implicit_memory(form, &form->memory[i], &out[n++]);
    return n;
}
