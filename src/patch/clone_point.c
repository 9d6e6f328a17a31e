/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PROBE: adds a call of the agent to a clone at a point of the plan. The call changes no flag and
 * no register and keeps the red zone. A no-op after the call has the number of the point. The agent
 * finds it by its return address.
 */
#include "patch/clone.h"

#include <assert.h>

#include "base/search.h"

static int emit_point_call(struct as_clone_assembly *a, uint64_t address, uint32_t number)
{
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, address);
    if (!part)
        return AS_ERR_NOMEM;
    part->lowers = true;
    AS_CLONE_BYTES(part, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea rsp,[rsp-128] */
    AS_CLONE_BYTES(part, 0xe8, 0, 0, 0, 0);             /* call the agent */
    part->fix[part->fixes++] = as_clone_fix(AS_PATCH_TO_AGENT, 0, part->length - 4u, 4);
    AS_CLONE_BYTES(part, 0x0f, 0x1f, 0x80, (uint8_t)number, (uint8_t)(number >> 8),
                   (uint8_t)(number >> 16), (uint8_t)(number >> 24)); /* nop [rax+number] */
    AS_CLONE_BYTES(part, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0);      /* lea rsp,[rsp+128] */
    return 0;
}

size_t as_patch_point_find(const struct as_patch_points *points, uint64_t address, bool behind)
{
    const struct as_patch_point *point = points->point;
    const size_t at = as_first_not(i, points->point_n,
                                   point[i].address < address ||
                                       (point[i].address == address && point[i].behind < behind));
    assert(at + 1 >= points->point_n || point[at].address <= point[at + 1].address); /* sorted */
    return at < points->point_n && point[at].address == address && point[at].behind == behind
               ? at
               : SIZE_MAX;
}

int as_clone_point_at(struct as_clone_assembly *a, const struct as_insn *insn, bool behind)
{
    const struct as_patch_points *points = a->clone->maker->wish.points;
    if (!points || !a->clone->measured)
        return 0;
    const size_t at = as_patch_point_find(points, insn->address, behind);
    return at == SIZE_MAX
               ? 0
               : emit_point_call(a, insn->address + (behind ? insn->length : 0), (uint32_t)at);
}
