/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the registers that are live at once on a repeated path: an instruction still reads their
 * values. Values that are only kept for code after the loop are not counted.
 */
#include "quality/cqa.h"

#define GPRS    UINT64_C(0xffff)
#define RSP     (UINT64_C(1) << 4)
#define VECTORS (UINT64_C(0xffffffff) << AS_REG_VEC)
#define MASKS   (UINT64_C(0xff) << AS_REG_MASK)

static double greater_count(double most, uint64_t set)
{
    const double n = __builtin_popcountll(set);

    return n > most ? n : most;
}

/* Returns the registers that are live before the first instruction; `live` are those after the last
 * one. A conditional write keeps the old value, so the effects also list it as a read. */
static uint64_t walk_back(const struct as_cqa_body *body, uint64_t live, double *m)
{
    for (size_t i = body->n; i-- > 0;) {
        const struct as_effects *effects = &body->effects[i];

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
        evex = body->item[i].form->traits & AS_TRAIT_EVEX;
    m[AS_CQA_NAMEABLE_GPR_N] = 15;
    m[AS_CQA_NAMEABLE_VECTOR_N] = evex ? 32 : 16;
    m[AS_CQA_NAMEABLE_MASK_N] = 8;
    /* The second pass includes the values that the next iteration reads. */
    const uint64_t next = walk_back(body, 0, m);
    if (body->loop != AS_NONE)
        walk_back(body, next, m);
}
