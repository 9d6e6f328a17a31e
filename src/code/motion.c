/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds how the addresses of a loop advance per iteration by additions of constants to registers.
 * This is a fast look at every loop of a binary. as_loop_streams analyses one loop completely.
 */
#include <stdlib.h>
#include <string.h>

#include "code/source.h"

/* Returns the constant that the instruction adds to its first register; 0 for
 * other instructions. */
static int64_t step_of(const struct as_insn *insn, const struct as_form *form)
{
    if (insn->reg[0] >= AS_REG_VEC || form->operand[0].kind != AS_OPERAND_REG)
        return 0;
    if (form->insn_class == AS_CLASS_LEA)
        return insn->base == insn->reg[0] && insn->index == AS_REG_NONE ? insn->disp : 0;
    if (form->insn_class != AS_CLASS_ADD)
        return 0;
    if (form->operands < 2)
        return !strcmp(form->mnemonic, "inc") - !strcmp(form->mnemonic, "dec");
    if (form->operand[1].kind != AS_OPERAND_IMM)
        return 0;
    if (!strcmp(form->mnemonic, "add"))
        return insn->imm;
    return !strcmp(form->mnemonic, "sub") ? -(int64_t)insn->imm : 0;
}

/* Returns the general registers that the instruction writes, one bit each. */
static uint32_t written(const struct as_insn *insn, const struct as_form *form)
{
    uint32_t set = (uint32_t)(form->implicit_write.word[0] & 0xffff);
    for (unsigned o = 0; o < form->operands; o++) {
        const struct as_operand *operand = &form->operand[o];
        if (operand->kind == AS_OPERAND_REG && operand->access & AS_ACCESS_WRITE &&
            insn->reg[operand->slot] < AS_REG_VEC)
            set |= 1u << insn->reg[operand->slot];
    }
    return set;
}

static void add_access(const struct as_code *code, const struct as_insn *insn,
                       const struct as_form *form, struct as_source_motion *motion)
{
    struct as_memory memory[2];
    if (!(insn->bits & AS_INSN_MEM) || form->insn_class == AS_CLASS_PREFETCH ||
        form->insn_class == AS_CLASS_LEA)
        return;
    if (as_insn_memory(code, insn, memory) != 1 || memory[0].stack || memory[0].rip_relative)
        return;
    uint32_t element_b = memory[0].element_b ? memory[0].element_b : form->element_b;
    if (!(form->traits & AS_TRAIT_FP)) /* packed integers: set later from the arithmetic */
        element_b = form->traits & AS_TRAIT_PACKED ? 0 : memory[0].width_b;
    motion->access[motion->n++] = (struct as_source_access){
        .disp = memory[0].disp,
        .width_b = memory[0].width_b,
        .element_b = element_b,
        .base = memory[0].base,
        .index = memory[0].index,
        .scale = memory[0].scale,
        .access = memory[0].access & (AS_ACCESS_READ | AS_ACCESS_WRITE),
    };
}

/* Returns the bytes that an address advances per iteration, without sign; 0 if it stays or is
 * unknown. */
static int64_t advance_of(const struct as_source_motion *motion, uint32_t other,
                          const struct as_source_access *a)
{
    bool has_base = a->base != AS_REG_NONE, has_index = a->index != AS_REG_NONE;
    if ((has_base && (a->base > 15 || other >> a->base & 1)) ||
        (has_index && (a->index > 15 || other >> a->index & 1)))
        return 0;
    int64_t by = has_base ? motion->step[a->base] : 0;
    by += has_index ? motion->step[a->index] * a->scale : 0;
    return by < 0 ? -by : by;
}

int as_source_motion(const struct as_source *s, uint32_t loop, struct as_source_motion *motion)
{
    const struct as_program *program = s->program;
    const struct as_loop *l = &program->loop[loop];
    uint32_t other = 0, lanes = 0, element_b = 0;
    *motion = (struct as_source_motion){
        .access = as_arena_alloc(s->arena, sizeof *motion->access * ((size_t)l->insns + 1),
                                 _Alignof(struct as_source_access))};
    if (!motion->access)
        return AS_ERR_NOMEM;
    for (uint32_t k = 0; k < l->blocks; k++) {
        const struct as_block *block = &program->block[program->loop_block[l->first_block + k]];
        if (block->loop == loop)
            as_insns_fetch(&program->code.insn[block->first_insn], block->insns);
        for (uint32_t i = 0; i < block->insns && block->loop == loop; i++) {
            const struct as_insn *insn = &program->code.insn[block->first_insn + i];
            const struct as_form *form = as_form_of(insn);
            int64_t step = step_of(insn, form);
            if (step)
                motion->step[insn->reg[0]] += step;
            else
                other |= written(insn, form);
            if ((form->flops || form->intops) && form->lanes > lanes) {
                lanes = form->lanes;
                element_b = form->element_b;
            }
            add_access(&program->code, insn, form, motion);
        }
    }
    for (unsigned r = 0; r < 16; r++)
        motion->step[r] = other >> r & 1 ? 0 : motion->step[r];
    for (uint32_t i = 0; i < motion->n; i++) {
        struct as_source_access *a = &motion->access[i];
        a->element_b = a->element_b ? a->element_b : element_b;
        a->by = advance_of(motion, other, a);
    }
    return 0;
}

static uint64_t shape_of(const struct as_source_access *a)
{
    return (uint64_t)a->base << 40 | (uint64_t)a->index << 32 | (uint64_t)a->scale << 24 |
           (uint64_t)a->access << 16 | (a->width_b & 0xffff);
}

/* Key for repeated accesses; `at` keeps equal keys in order. */
struct access_spot {
    uint64_t shape;
    int64_t disp;
    uint32_t at;
};

static int by_shape(const void *a, const void *b)
{
    const struct access_spot *x = a, *y = b;
    if (x->shape != y->shape)
        return x->shape < y->shape ? -1 : 1;
    if (x->disp != y->disp)
        return x->disp < y->disp ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void sort_spots(struct access_spot *at, uint32_t n)
{
    if (n > 64) {
        qsort(at, n, sizeof *at, by_shape);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        const struct access_spot moved = at[i];
        uint32_t k = i;
        for (; k > 0 && by_shape(&moved, &at[k - 1]) < 0; k--)
            at[k] = at[k - 1];
        at[k] = moved;
    }
}

int as_source_repeats(const struct as_source *s, const struct as_source_motion *motion,
                      uint32_t *repeats)
{
    uint32_t copies = 0, n = motion->n;
    struct access_spot *spot = as_arena_fresh(s->arena, struct access_spot, (size_t)n + 1);
    *repeats = 0;
    if (!spot)
        return AS_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        spot[i] = (struct access_spot){shape_of(&motion->access[i]), motion->access[i].disp, i};
    sort_spots(spot, n);
    for (uint32_t i = 0; i < n;) {
        const int64_t width_b = motion->access[spot[i].at].width_b;
        uint32_t j = i + 1;
        while (j < n && spot[j].shape == spot[i].shape &&
               spot[j].disp == spot[j - 1].disp + width_b)
            j++;
        if (copies && j - i != copies)
            return 0;
        copies = j - i;
        i = j;
    }
    const struct as_source_access *first = n ? &motion->access[spot[0].at] : NULL;
    if (first && first->element_b && first->width_b % first->element_b == 0)
        *repeats = copies * (first->width_b / first->element_b);
    return 0;
}
