/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the front end allows: slots renamed, taken branches, and how instructions come out of the op
 * cache, the loop buffer or the decoders.
 */
#include <math.h>

#include "predict/internal.h"

double as_front_dispatch(const struct as_block *block)
{
    const double *set = block->uarch->set;
    double slots = 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        slots += block->op[i].move ? (double)block->op[i].slots * set[ASSAY_UARCH_move_slots]
                                   : (double)block->op[i].slots;
    return slots / set[ASSAY_UARCH_dispatch_width];
}

double as_front_branch(const struct as_block *block)
{
    double taken = 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        taken += block->op[i].jump_taken;
    return taken * block->uarch->set[ASSAY_UARCH_taken_branch];
}

double as_front_decode(const struct as_block *block)
{
    (void)block;
    return 0;
}
