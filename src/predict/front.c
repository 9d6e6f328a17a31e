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
    double slots = 0, vectors = 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        vectors += block->op[i].vector ? (double)block->op[i].slots : 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        slots += block->op[i].move ? (double)block->op[i].slots * set[ASSAY_UARCH_move_slots]
                                   : (double)block->op[i].slots;
    const double cycles = slots / set[ASSAY_UARCH_dispatch_width];
    const double width = set[ASSAY_UARCH_dispatch_fp];
    return width > 0 && vectors / width > cycles ? vectors / width : cycles;
}

double as_front_branch(const struct as_block *block)
{
    double taken = 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        taken += block->op[i].jump_taken;
    return taken * block->uarch->set[ASSAY_UARCH_taken_branch];
}

/* ---- The op cache, line by line ------------------------------------------------------------ */

enum { LINE_SLOTS = ASSAY_UARCH_LINE, COPIES_MOST = 64 };

/* In a loop: a line with more slots than are read at once is read again, after a pause. */
static double looped_line(const struct assay_uarch *uarch, double slots)
{
    const double times = ceil(slots / uarch->set[ASSAY_UARCH_opcache_fetch] - 1e-9);
    return times > 0 ? 1 + uarch->set[ASSAY_UARCH_opcache_again] * (times - 1) : 0;
}

/* In straight code: as measured, else what dispatch takes. */
static double straight_line(const struct assay_uarch *uarch, double slots)
{
    const double width = uarch->set[ASSAY_UARCH_dispatch_width];
    const unsigned low = (unsigned)slots;
    if (low + 1 >= LINE_SLOTS)
        return slots / width;
    const double at_low = uarch->line_cycles[low] > 0 ? (double)uarch->line_cycles[low] : low / width;
    const double at_high = uarch->line_cycles[low + 1] > 0 ? (double)uarch->line_cycles[low + 1]
                                                           : (low + 1) / width;
    return at_low + (at_high - at_low) * (slots - low);
}

/* Copies of the block one behind the other until a line begins where the first one did. */
static double lines_cycles(const struct as_block *block, bool loop)
{
    const struct assay_uarch *uarch = block->uarch;
    const uint64_t line_b = (uint64_t)uarch->set[ASSAY_UARCH_opcache_line_b];
    const uint64_t start = block->op[0].at == UINT32_MAX || !line_b
                               ? 0
                               : block->code->insn[block->op[0].at].address;
    uint64_t line = UINT64_MAX;
    double slots = 0, cycles = 0;
    unsigned copies = 0;
    do {
        for (uint32_t i = 0; i < block->op_n; i++) {
            const struct as_op *op = &block->op[i];
            const uint64_t end =
                start + (uint64_t)copies * block->size_b + op->offset + op->length - 1;
            if (end / line_b != line) {
                cycles += loop ? looped_line(uarch, slots) : straight_line(uarch, slots);
                slots = 0;
                line = end / line_b;
            }
            slots += (double)op->decoded + (loop ? (double)op->decoded_more : 0);
        }
        copies++;
    } while (!loop && copies < COPIES_MOST && (uint64_t)copies * block->size_b % line_b);
    cycles += loop ? looped_line(uarch, slots) : straight_line(uarch, slots);
    return cycles / copies;
}

double as_front_decode(const struct as_block *block)
{
    const double *set = block->uarch->set;
    if (set[ASSAY_UARCH_opcache_fetch] > 0 && set[ASSAY_UARCH_opcache_line_b] > 0)
        return lines_cycles(block, block->mode == ASSAY_PREDICT_LOOP);
    return 0;
}
