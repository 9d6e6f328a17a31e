/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Obstacles to the vectorisation of a path: calls, several paths, strides and instructions without
 * a vector form. Loop-carried dependences come from the vector verdict, if the path contains them.
 */
#include "isa/packed.h"
#include "quality/cqa.h"

/* Returns true if the path contains an instruction of the evidence. */
static bool is_on_path(const struct as_cqa_body *body, const struct as_vector_verdict *verdict,
                       const struct as_vector_reason *reason)
{
    for (uint32_t k = 0; k < reason->n; k++)
        for (size_t i = 0; i < body->n; i++)
            if (body->item[i].insn == verdict->insn[reason->first + k])
                return true;
    return false;
}

static bool stores_on_path(const struct as_cqa_body *body, const struct as_vector_verdict *verdict,
                           const struct as_vector_reason *reason)
{
    for (uint32_t k = 0; k < reason->n; k++)
        for (size_t i = 0; i < body->n; i++)
            if (body->item[i].insn == verdict->insn[reason->first + k] && body->item[i].stores &&
                !body->item[i].frame)
                return true;
    return false;
}

/* Returns the obstacles from loop-carried dependences on the path, by the vector verdict. */
static uint32_t cycle_obstacles(const struct as_cqa_body *body,
                                const struct as_vector_verdict *verdict)
{
    uint32_t found = 0;

    for (size_t i = 0; i < verdict->reason_n; i++) {
        const struct as_vector_reason *reason = &verdict->reason[i];
        const bool chain = reason->obstacle == AS_VECTOR_CHAIN;

        if ((!chain && reason->obstacle != AS_VECTOR_REDUCTION) ||
            !is_on_path(body, verdict, reason))
            continue;
        found |= chain ? AS_CQA_OBSTACLE_RECURRENCE : AS_CQA_OBSTACLE_REDUCTION;
        if (chain && stores_on_path(body, verdict, reason))
            found |= AS_CQA_OBSTACLE_MEMORY;
    }
    return found;
}

static uint32_t item_obstacles(const struct as_cqa_body *body, size_t at)
{
    const struct as_cqa_item *item = &body->item[at];
    const bool moves = (item->loads || item->stores) && !item->frame &&
                       (item->packable || item->role >= AS_ROLE_DATA);
    struct as_insn wider;
    uint32_t found = 0;

    if (item->role == AS_ROLE_CALL)
        return AS_CQA_OBSTACLE_CALL;
    if (item->form->traits & AS_TRAIT_X87)
        found |= AS_CQA_OBSTACLE_X87;
    if (moves && item->stride == AS_STRIDE_CONSTANT)
        found |= AS_CQA_OBSTACLE_STRIDE;
    if (moves && item->stride == AS_STRIDE_INDIRECT)
        found |= AS_CQA_OBSTACLE_INDIRECT;
    if (moves && item->stride == AS_STRIDE_UNKNOWN && body->streams)
        found |= AS_CQA_OBSTACLE_UNKNOWN_STEP;
    if (item->packable && !item->packed && item->form->insn_class != AS_CLASS_LEA &&
        !as_insn_packed(&body->code.insn[at], 2, &wider) &&
        !as_insn_packed(&body->code.insn[at], 4, &wider))
        found |= AS_CQA_OBSTACLE_FORM;
    return found;
}

uint32_t as_cqa_obstacles(const struct as_cqa_body *body, const struct as_vector_verdict *verdict,
                          bool ways)
{
    uint32_t found = ways ? AS_CQA_OBSTACLE_WAYS : 0;

    for (size_t i = 0; i < body->n; i++)
        found |= item_obstacles(body, i);
    return found | (verdict ? cycle_obstacles(body, verdict) : 0);
}
