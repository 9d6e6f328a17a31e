/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds space for a jump at each entry of an area. A jump has 5 bytes. Once all entries lead into
 * the clone, no thread runs the original body. So a jump may cover later blocks of the area. It
 * must not cover a block outside, another entry, or a call, which runs at its original address. If
 * 5 bytes are too many, a jump of 2 bytes leads to a hole. A hole is 5 bytes of the area's own code
 * nearby, which no thread runs any more.
 */
#include "patch/internal.h"

#include <stdlib.h>

#define HOP_B     AS_PATCH_HOP_B
#define NEEDS_HOP INT32_MAX                     /* until a hole is found */
enum { HOLE_BEFORE = -126, HOLE_BEHIND = 129 }; /* offsets from the entry */

/* Returns true if the byte belongs to the area. With `padding`, a byte of padding outside of all
 * blocks is allowed too. */
static bool is_ours(const struct as_patch_area *area, uint64_t address, bool padding)
{
    const struct as_program *p = area->code->program;
    const uint32_t block = as_patch_block_at(area->code, address);
    if (block != AS_NONE)
        return as_patch_area_holds(area, block);
    /* Code outside of all blocks that is not padding may be reached in an unknown way. */
    const size_t insn = padding ? as_code_find(&p->code, address) : SIZE_MAX;
    return insn != SIZE_MAX && as_form_of(&p->code.insn[insn])->insn_class == AS_CLASS_NOP;
}

static bool is_in_call(const struct as_patch_area *area, uint64_t address)
{
    const struct as_program *p = area->code->program;
    const size_t insn = as_code_find(&p->code, address);
    return insn != SIZE_MAX && as_form_of(&p->code.insn[insn])->insn_class == AS_CLASS_CALL;
}

/* Returns true if a jump may overwrite the `n` bytes at `address`. */
static bool may_write(const struct as_patch_area *area, uint64_t address, unsigned n, bool padding)
{
    uint64_t have_b = 0;
    if (!as_object_bytes(area->code->program->object, address, &have_b) || have_b < 8)
        return false;
    for (uint64_t a = address; a < address + n; a++)
        if (!is_ours(area, a, padding) || is_in_call(area, a))
            return false;
    return true;
}

static bool meets(uint64_t a, uint64_t a_b, uint64_t b, uint64_t b_b)
{
    return a < b + b_b && b < a + a_b;
}

/* Returns true if no jump of an entry and no other hole overlaps the hole. */
static bool is_free(const struct as_patch_area *area, uint64_t hole)
{
    as_vec_foreach (&area->place, place) {
        const unsigned n = place->hop ? HOP_B : AS_PATCH_JUMP_B;
        if (meets(hole, AS_PATCH_JUMP_B, place->address, n) ||
            (place->hop && meets(hole, AS_PATCH_JUMP_B,
                                 as_patch_jump_at(place->address, place->hop), AS_PATCH_JUMP_B)))
            return false;
    }
    return true;
}

static bool find_hole(const struct as_patch_area *area, struct as_patch_place *place)
{
    for (int64_t at = HOP_B + 1; at <= HOLE_BEHIND; at++) {
        for (int side = 0; side < 2; side++) {
            const int64_t from = side ? -at : at;
            const uint64_t hole = place->address + (uint64_t)from;
            if (from < HOLE_BEFORE || meets(hole, AS_PATCH_JUMP_B, place->address, HOP_B))
                continue;
            if (is_free(area, hole) && may_write(area, hole, AS_PATCH_JUMP_B, false)) {
                place->hop = (int32_t)(from - HOP_B);
                return true;
            }
        }
    }
    return false;
}

static int by_address(const void *a, const void *b)
{
    const uint64_t x = ((const struct as_patch_place *)a)->address;
    const uint64_t y = ((const struct as_patch_place *)b)->address;
    return (x > y) - (x < y);
}

/* Returns the bytes from entry `i` to the next one. Entries after the first are sorted. */
static uint64_t gap_behind(const struct as_patch_area *area, size_t i)
{
    const struct as_patch_place *at = area->place.at;
    uint64_t gap = i > 0 && i + 1 < area->place.n ? at[i + 1].address - at[i].address : UINT64_MAX;
    for (size_t k = 0; k < area->place.n && (i == 0 || k == 0); k++)
        if (at[k].address > at[i].address && at[k].address - at[i].address < gap)
            gap = at[k].address - at[i].address;
    return gap;
}

/* Finds the entries with 5 bytes first. The others get holes once all entries are known. */
unsigned as_patch_room_find(struct as_patch_area *area)
{
    struct as_patch_place *at = area->place.at;
    const size_t n = area->place.n;
    if (n > AS_SITES_MOST)
        return AS_PATCH_REFUSED_LARGE;
    qsort(at + 1, n - 1, sizeof *at, by_address);
    for (size_t i = 0; i < n; i++) {
        const uint64_t gap = gap_behind(area, i);
        if (gap >= AS_PATCH_JUMP_B && may_write(area, at[i].address, AS_PATCH_JUMP_B, true))
            continue;
        at[i].hop = NEEDS_HOP;
        if (gap < HOP_B || !may_write(area, at[i].address, HOP_B, false))
            return at[i].why;
    }
    for (size_t i = 0; i < n; i++)
        if (at[i].hop && !find_hole(area, &at[i]))
            return at[i].why;
    return 0;
}
