/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many registers are live at once on a path that is repeated: values that some instruction
 * still reads. What is only kept across the loop for what comes behind it is not seen.
 */
#include "quality/cqa.h"

#define GPRS    UINT64_C(0xffff)
#define RSP     (UINT64_C(1) << 4)
#define VECTORS (UINT64_C(0xffffffff) << ASSAY_REG_VEC)
#define MASKS   (UINT64_C(0xff) << ASSAY_REG_MASK)

static double greater_count(double most, uint64_t set)
{
    const double n = __builtin_popcountll(set);

    return n > most ? n : most;
}

/* What is live before the first instruction, given what is live behind the last one. Conditional
 * writes keep the old value: it is read, too, by the effects. */
static uint64_t walk_back(const struct as_cqa_body *body, uint64_t live, double *m)
{
    for (size_t i = body->n; i-- > 0;) {
        const struct assay_effects *effects = &body->effects[i];

        live = (live & ~effects->written.word[0]) | effects->read.word[0];
        m[AS_CQA_LIVE_GPR_N] = greater_count(m[AS_CQA_LIVE_GPR_N], live & GPRS & ~RSP);
        m[AS_CQA_LIVE_VECTOR_N] = greater_count(m[AS_CQA_LIVE_VECTOR_N], live & VECTORS);
        m[AS_CQA_LIVE_MASK_N] = greater_count(m[AS_CQA_LIVE_MASK_N], live & MASKS);
    }
    return live;
}

void as_cqa_count_pressure(const struct as_cqa_body *body, double *m)
{
    bool evex = false;

    for (size_t i = 0; i < body->n && !evex; i++)
        evex = body->item[i].form->traits & ASSAY_TRAIT_EVEX;
    m[AS_CQA_NAMEABLE_GPR_N] = 15;
    m[AS_CQA_NAMEABLE_VECTOR_N] = evex ? 32 : 16;
    m[AS_CQA_NAMEABLE_MASK_N] = 8;
    /* Twice: the second time with what the next iteration reads of this one. */
    const uint64_t next = walk_back(body, 0, m);
    if (body->loop != ASSAY_NONE)
        walk_back(body, next, m);
}
