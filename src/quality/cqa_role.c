/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the purpose of each instruction of a path: computation, addresses or loop control. Follows
 * values through registers; the path repeats endlessly.
 */
#include <string.h>

#include "isa/packed.h"
#include "quality/cqa.h"

#define NOBODY UINT32_MAX

/* ---- Reads --------------------------------------------------------------------------------- */

static void visit_reads(const struct as_effects *effects, size_t reader, const uint32_t *last,
                        const struct as_cqa_reads *reads)
{
    for (unsigned word = 0; word < 2; word++)
        for (uint64_t left = effects->read.word[word]; left; left &= left - 1) {
            const unsigned reg = 64 * word + (unsigned)__builtin_ctzll(left);

            if (reg < AS_REG_COUNT && last[reg] != NOBODY)
                reads->each(reads->context, reader, reg, last[reg]);
        }
}

void as_cqa_walk_reads(const struct as_cqa_body *body, const struct as_cqa_reads *reads)
{
    uint32_t last[AS_REG_COUNT];

    memset(last, 0xff, sizeof last);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < body->n; i++) {
            const struct as_effects *effects = &body->effects[i];

            if (round)
                visit_reads(effects, i, last, reads);
            for (unsigned word = 0; word < 2; word++)
                for (uint64_t left = effects->written.word[word]; left; left &= left - 1) {
                    const unsigned reg = 64 * word + (unsigned)__builtin_ctzll(left);
                    if (reg < AS_REG_COUNT)
                        last[reg] = (uint32_t)i;
                }
        }
}

/* ---- Control ------------------------------------------------------------------------------- */

static bool is_inside(const struct as_program *program, uint32_t block, uint32_t loop)
{
    uint32_t at = program->block[block].loop;

    while (at != AS_NONE && at != loop)
        at = program->loop[at].parent;
    return at == loop;
}

static uint32_t block_of(const struct as_cqa_body *body, uint32_t insn)
{
    const struct as_program *program = body->program;
    const struct as_loop *loop = &program->loop[body->loop];
    size_t low = 0, high = loop->blocks;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct as_block *block =
            &program->block[program->loop_block[loop->first_block + middle]];

        if (insn < block->first_insn)
            high = middle;
        else if (insn >= block->first_insn + block->insns)
            low = middle + 1;
        else
            return program->loop_block[loop->first_block + middle];
    }
    return AS_NONE;
}

/* Returns true if item `i` is the last one of the path or branches out of the loop. */
static bool closes(const struct as_cqa_body *body, size_t i)
{
    if (i + 1 == body->n || body->loop == AS_NONE)
        return true;
    const uint32_t at = block_of(body, body->item[i].insn);
    if (at == AS_NONE)
        return false;
    const struct as_block *block = &body->program->block[at];
    for (uint32_t k = 0; k < block->succs; k++)
        if (!is_inside(body->program, body->program->succ[block->first_succ + k].block, body->loop))
            return true;
    return false;
}

static bool is_counting(const struct as_form *form)
{
    return form->insn_class == AS_CLASS_ADD || form->insn_class == AS_CLASS_LEA;
}

/* Marks instructions that count a register which the compare at `compare` reads. */
static void mark_counters(struct as_cqa_body *body, size_t compare)
{
    const uint64_t compared = body->effects[compare].read.word[0] & 0xffff;

    for (size_t i = 0; i < body->n; i++) {
        if (!is_counting(body->item[i].form) || as_form_is_vector(body->item[i].form))
            continue;
        if (body->effects[i].read.word[0] & body->effects[i].written.word[0] & compared)
            body->item[i].role = AS_ROLE_CONTROL;
    }
}

static void mark_control(struct as_cqa_body *body)
{
    for (size_t i = 0; i < body->n; i++) {
        const struct as_form *form = body->item[i].form;

        if ((form->insn_class != AS_CLASS_BRANCH && form->insn_class != AS_CLASS_JUMP) ||
            !closes(body, i))
            continue;
        body->item[i].role = AS_ROLE_CONTROL;
        for (size_t k = i; k-- > 0 && form->flags_read;) {
            if (!(body->item[k].form->flags_written & form->flags_read))
                continue;
            if (!as_form_is_vector(body->item[k].form)) {
                body->item[k].role = AS_ROLE_CONTROL;
                mark_counters(body, k);
            }
            break;
        }
    }
}

/* ---- Addresses ----------------------------------------------------------------------------- */

struct addressing {
    struct as_cqa_body *body;
    bool changed;
};

static bool is_address_register(const struct as_cqa_item *item, const struct as_insn *insn,
                                unsigned reg)
{
    return insn->bits & AS_INSN_MEM && item->form->insn_class != AS_CLASS_LEA &&
           (insn->base == reg || insn->index == reg);
}

/* Marks the writer of an address, and the writers of its inputs, as address instructions. */
static void follow_address(void *context, size_t reader, unsigned reg, size_t writer)
{
    struct addressing *a = context;
    struct as_cqa_item *from = &a->body->item[reader], *to = &a->body->item[writer];

    if (reg < 16 && to->role == AS_ROLE_DATA &&
        (from->role == AS_ROLE_ADDRESS ||
         is_address_register(from, &a->body->code.insn[reader], reg))) {
        to->role = AS_ROLE_ADDRESS;
        a->changed = true;
    }
}

static void follow_loads(void *context, size_t reader, unsigned reg, size_t writer)
{
    struct addressing *a = context;
    struct as_cqa_item *to = &a->body->item[reader];

    if (reg < 16 && writer < reader && !to->after_load && a->body->item[writer].after_load) {
        to->after_load = true;
        a->changed = true;
    }
}

static uint8_t first_role(const struct as_form *form)
{
    if (form->insn_class == AS_CLASS_CALL)
        return AS_ROLE_CALL;
    if (as_form_is_vector(form))
        return form->flops > 0 ? AS_ROLE_ARITHMETIC : AS_ROLE_VECTOR;
    switch (form->insn_class) {
    case AS_CLASS_NOP:
    case AS_CLASS_BRANCH:
    case AS_CLASS_JUMP:
    case AS_CLASS_PUSH:
    case AS_CLASS_POP:
    case AS_CLASS_PREFETCH:
    case AS_CLASS_STATE:
        return AS_ROLE_ADDRESS;
    default:
        return AS_ROLE_DATA;
    }
}

void as_cqa_find_roles(struct as_cqa_body *body)
{
    struct addressing a = {.body = body, .changed = true};
    const struct as_cqa_reads address = {&a, follow_address}, loads = {&a, follow_loads};

    for (size_t i = 0; i < body->n; i++) {
        body->item[i].role = first_role(body->item[i].form);
        body->item[i].after_load = body->item[i].loads && !as_form_is_vector(body->item[i].form);
    }
    mark_control(body);
    for (unsigned round = 0; a.changed && round < 8; round++) {
        a.changed = false;
        as_cqa_walk_reads(body, &address);
    }
    a.changed = true;
    for (unsigned round = 0; a.changed && round < 8; round++) {
        a.changed = false;
        as_cqa_walk_reads(body, &loads);
    }
}
