/* SPDX-License-Identifier: Apache-2.0 */
/* Makes parts of a clone and finds tallies, for all files that write clones. */
#include "patch/clone.h"

#include <string.h>

struct as_clone_part *as_clone_part_new(struct as_clone_assembly *a, enum as_clone_kind kind,
                                        uint64_t address)
{
    const struct as_clone_part fresh = {
        .kind = (uint8_t)kind, .depth_b = a->depth_b, .address = address};
    if (as_vec_push(&a->part, fresh) < 0)
        return NULL;
    return &a->part.at[a->part.n - 1];
}

void as_clone_save_flags(struct as_clone_part *part, bool lowers)
{
    part->lowers = lowers;
    part->pushes = 1;
    if (lowers)
        AS_CLONE_BYTES(part, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea rsp,[rsp-128] */
    AS_CLONE_BYTES(part, 0x50, 0x9f, 0x0f, 0x90, 0xc0);     /* push rax; lahf; seto al */
}

/* 1 + 127 overflows and 0 + 127 does not; sahf keeps the overflow flag. */
void as_clone_restore_flags(struct as_clone_part *part)
{
    AS_CLONE_BYTES(part, 0x04, 0x7f, 0x9e, 0x58); /* add al,127; sahf; pop rax */
    if (part->lowers)
        AS_CLONE_BYTES(part, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0); /* lea rsp,[rsp+128] */
}

const struct as_clone_tally *as_clone_tally_around(const struct as_clone_assembly *a,
                                                   uint32_t block)
{
    for (size_t i = 0; block != AS_NONE && i < a->tally.n; i++)
        if (a->p->block[block].loop == a->tally.at[i].loop)
            return &a->tally.at[i];
    return NULL;
}
