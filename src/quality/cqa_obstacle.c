/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What keeps a path from working on whole vectors: calls, ways, chains from iteration to iteration
 * (those that only sum up can be reordered, others cannot), steps, and instructions without a form.
 */
#include "isa/packed.h"
#include "quality/cqa.h"

/* Values of a reduction may be taken together in any order: of what the step computes. */
enum reduction_family {
    FAMILY_NONE,
    FAMILY_SUM,
    FAMILY_PRODUCT,
    FAMILY_EXTREME,
    FAMILY_BITS,
    FAMILY_COPY
};

static enum reduction_family family_of(const struct as_cqa_item *item)
{
    switch (item->form->insn_class) {
    case ASSAY_CLASS_ADD:
    case ASSAY_CLASS_FMA:
        return FAMILY_SUM;
    case ASSAY_CLASS_MUL:
        return FAMILY_PRODUCT;
    case ASSAY_CLASS_MINMAX:
        return FAMILY_EXTREME;
    case ASSAY_CLASS_LOGIC:
        return FAMILY_BITS;
    case ASSAY_CLASS_MOVE:
        return item->loads || item->stores ? FAMILY_NONE : FAMILY_COPY;
    default:
        return FAMILY_NONE;
    }
}

static unsigned register_of(const struct as_cqa_body *body, size_t at, unsigned operand)
{
    const struct assay_operand *o = &body->item[at].form->operand[operand];

    return operand < body->item[at].form->operands && o->kind == ASSAY_OPERAND_REG
               ? body->code.insn[at].reg[o->slot]
               : ASSAY_REG_NONE;
}

/* The step at `to` takes the value of the one at `from` as what it adds to, not as a factor. */
static bool adds_up(const struct as_cqa_body *body, size_t from, size_t to)
{
    const int addend = as_form_addend(body->item[to].form);
    const unsigned value = register_of(body, from, 0);

    if (body->item[to].form->insn_class != ASSAY_CLASS_FMA)
        return true;
    for (unsigned i = 0; i < 3; i++)
        if ((int)i != addend && register_of(body, to, i) == value)
            return false;
    return addend >= 0 && register_of(body, to, (unsigned)addend) == value;
}

/* Loads or stores of the frame, and integers that count or find addresses, are no values. */
static bool is_bookkeeping(const struct as_cqa_item *item)
{
    return item->role == AS_ROLE_CONTROL || item->role == AS_ROLE_ADDRESS;
}

static uint32_t chain_obstacle(const struct as_cqa_body *body, const struct assay_chain_step *chain,
                               size_t chain_n)
{
    enum reduction_family family = FAMILY_COPY;
    bool bookkeeping = chain_n > 0, reduction = true, memory = false;

    for (size_t i = 0; i < chain_n; i++) {
        if (chain[i].insn >= body->n)
            continue; /* the loop's end, where the path has none */
        const struct as_cqa_item *item = &body->item[chain[i].insn];
        const uint32_t next = chain[(i + 1) % chain_n].insn;
        const enum reduction_family own = family_of(item);

        bookkeeping &= is_bookkeeping(item);
        memory |= chain[i].memory && !item->frame;
        reduction &= own != FAMILY_NONE && !chain[i].memory &&
                     (own == FAMILY_COPY || family == FAMILY_COPY || own == family) &&
                     (next >= body->n || adds_up(body, chain[i].insn, next));
        family = own == FAMILY_COPY ? family : own;
    }
    if (!chain_n || bookkeeping)
        return 0;
    return (memory ? ASSAY_CQA_OBSTACLE_MEMORY : 0u) |
           (reduction ? ASSAY_CQA_OBSTACLE_REDUCTION : ASSAY_CQA_OBSTACLE_RECURRENCE);
}

static uint32_t item_obstacles(const struct as_cqa_body *body, size_t at)
{
    const struct as_cqa_item *item = &body->item[at];
    const bool moves = (item->loads || item->stores) && !item->frame &&
                       (item->packable || item->role >= AS_ROLE_DATA);
    struct assay_insn wider;
    uint32_t found = 0;

    if (item->role == AS_ROLE_CALL)
        return ASSAY_CQA_OBSTACLE_CALL;
    if (item->form->traits & ASSAY_TRAIT_X87)
        found |= ASSAY_CQA_OBSTACLE_X87;
    if (moves && item->stride == ASSAY_STRIDE_CONSTANT)
        found |= ASSAY_CQA_OBSTACLE_STRIDE;
    if (moves && item->stride == ASSAY_STRIDE_INDIRECT)
        found |= ASSAY_CQA_OBSTACLE_INDIRECT;
    if (moves && item->stride == ASSAY_STRIDE_UNKNOWN && body->streams)
        found |= ASSAY_CQA_OBSTACLE_UNKNOWN_STEP;
    if (item->packable && !item->packed && item->form->insn_class != ASSAY_CLASS_LEA &&
        !as_insn_packed(&body->code.insn[at], 2, &wider) &&
        !as_insn_packed(&body->code.insn[at], 4, &wider))
        found |= ASSAY_CQA_OBSTACLE_FORM;
    return found;
}

uint32_t as_cqa_obstacles(const struct as_cqa_body *body, const struct assay_chain_step *chain,
                          size_t chain_n, bool ways)
{
    uint32_t found = ways ? ASSAY_CQA_OBSTACLE_WAYS : 0;

    for (size_t i = 0; i < body->n; i++)
        found |= item_obstacles(body, i);
    return found | chain_obstacle(body, chain, chain_n);
}
