/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts a loop into slices of iterations. The slice register changes by a constant per iteration. At
 * the header, the clone leaves the loop if the register equals a limit of the thread. The state is
 * that of a loop entry, so after a slice as a variant the program's code can continue.
 */
#include "patch/clone.h"

enum { JUMP_IF_EQUAL = 4, STACK = 4 };

/* Chooses the register with the latest writer among those that step once per iteration. The
 * branches often depend on this writer anyway, so it remains in all variants. */
struct as_patch_slice as_patch_slice_find(const struct as_patch_area *area)
{
    struct as_patch_slice best = {.reg = AS_PATCH_NONE, .insn = AS_NONE};
    struct as_patch_step step[16];
    as_patch_steps_find(area, step);
    if (area->loop == AS_NONE || as_live_at(area->code, area->header) & AS_LIVE_STATUS)
        return best;
    for (unsigned r = 0; r < 16; r++)
        if (r != STACK && step[r].insn != AS_NONE && step[r].by != 0 && step[r].by >= INT32_MIN &&
            step[r].by <= INT32_MAX && (best.insn == AS_NONE || step[r].insn > best.insn))
            best = (struct as_patch_slice){(uint8_t)r, step[r].width_b, step[r].insn, step[r].by};
    return best;
}

/* Emits cmp reg,fs:[limit]. */
static struct as_clone_part *emit_limit_compare(struct as_clone_assembly *a, uint64_t address)
{
    const struct as_patch_slice *slice = &a->clone->slice;
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, address);
    if (!part)
        return NULL;
    AS_CLONE_BYTES(part, 0x64,
                   (uint8_t)(0x40 | (slice->width_b == 8 ? 8 : 0) | (slice->reg >> 3) << 2), 0x3b,
                   (uint8_t)(0x04 | (slice->reg & 7) << 3), 0x25, 0, 0, 0, 0);
    part->fix[part->fixes++] =
        as_clone_fix(AS_PATCH_TO_LIMIT, a->clone->region, part->length - 4u, 0);
    return part;
}

int as_clone_slice(struct as_clone_assembly *a, uint32_t block)
{
    const uint64_t address = a->p->block[block].start;
    uint32_t label;
    if (a->clone->slice.reg == AS_PATCH_NONE)
        return 0;
    struct as_clone_part *part = emit_limit_compare(a, address);
    if (!part)
        return AS_ERR_NOMEM;
    if (a->clone->variant) {
        AS_CLONE_BYTES(part, 0x0f, 0x80 | JUMP_IF_EQUAL, 0, 0, 0, 0);
        part->fix[part->fixes++] = as_clone_fix(AS_PATCH_TO_AGENT, 0, part->length - 4u, 4);
        return 0;
    }
    AS_TRY(as_clone_find_way_again(a, block, &label));
    part = as_clone_part_new(a, AS_CLONE_BRANCH, address);
    if (!part)
        return AS_ERR_NOMEM;
    part->condition = JUMP_IF_EQUAL;
    part->label = label;
    part->wide = true;
    return 0;
}
