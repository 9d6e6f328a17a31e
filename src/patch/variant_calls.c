/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop some of whose iterations call (what is seldom: an error, a tally) runs as variants without
 * the blocks that do. Whatever comes to such a block ends there, as it would at an exit, and says
 * so: nobody knows what a call would write. Instances that come to none are measured as those of
 * other loops are.
 */
#include "patch/variant.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"

#define LOCAL(field) ((int32_t)offsetof(struct as_variant_local, field))

static bool has_call(const struct assay_program *p, const struct assay_block *b)
{
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        const unsigned kind = as_form_of(&p->code.insn[i])->insn_class;
        if (kind == ASSAY_CLASS_CALL || kind == ASSAY_CLASS_RETURN)
            return true;
    }
    return false;
}

enum { SEEN = 1, CALLS = 2 };

static uint32_t number_in(const struct as_patch_area *area, uint32_t block)
{
    return as_patch_area_holds(area, block)
               ? as_patch_area_find(area, area->code->program->block[block].start)
               : ASSAY_NONE;
}

/* Marks blocks that are reached from the header past no call, until none is added. Returns whether
 * one of them leads to the header again. */
static bool see_blocks(const struct as_patch_area *area, uint8_t *mark)
{
    const struct assay_program *p = area->code->program;
    const uint32_t header = number_in(area, area->header);
    bool changed = true, again = false;
    for (uint32_t k = 0; k < area->blocks; k++)
        mark[k] = has_call(p, &p->block[area->block[k]]) ? CALLS : 0;
    mark[header] |= mark[header] & CALLS ? 0 : SEEN;
    while (changed) {
        changed = false;
        for (uint32_t k = 0; k < area->blocks; k++) {
            const struct assay_block *b = &p->block[area->block[k]];
            for (uint32_t e = b->first_succ; mark[k] & SEEN && e < b->first_succ + b->succs; e++) {
                const uint32_t to = number_in(area, p->succ[e].block);
                again |= to == header;
                if (to == ASSAY_NONE || mark[to])
                    continue;
                mark[to] = SEEN;
                changed = true;
            }
        }
    }
    return again;
}

/* What leads into it beside its header are returns of those calls, and nothing else. */
static bool is_entered_by_returns(const struct as_patch_area *area)
{
    for (size_t i = 1; i < area->place.n; i++)
        if (area->place.at[i].ways != AS_PATCH_WAY_RETURNS)
            return false;
    return true;
}

int as_variant_area_make(const struct as_patch_area *area, struct as_patch_area *out)
{
    uint8_t *mark = NULL;
    *out = *area;
    out->own = NULL;
    if (area->loop == ASSAY_NONE || area->bare || area->place.n <= 1 ||
        !is_entered_by_returns(area))
        return 0;
    mark = as_calloc(area->blocks + 1, sizeof *mark);
    out->own = as_calloc(area->blocks + 1, sizeof *out->own);
    if (mark && out->own && see_blocks(area, mark)) {
        out->block = out->own;
        out->blocks = 0;
        out->place.n = 1;
        for (uint32_t k = 0; k < area->blocks; k++)
            if (mark[k] & SEEN)
                out->own[out->blocks++] = area->block[k];
    }
    const bool failed = !mark || !out->own;
    as_free(mark);
    return failed ? ASSAY_ERR_NOMEM : 0;
}

void as_variant_area_fini(struct as_patch_area *area)
{
    as_free(area->own);
}

/* movb $1,gs:[called]: no flag changes. */
int as_variant_way_out(struct as_clone_assembly *a, const struct as_clone_way *way)
{
    const struct as_patch_area *area = a->clone->area;
    const uint32_t block = as_patch_block_at(area->code, way->target);
    const int32_t offset = LOCAL(called);
    if (block == ASSAY_NONE || !as_patch_area_holds(area, block))
        return 0;
    struct as_clone_part *part = as_clone_part_new(a, AS_CLONE_CODE, way->from);
    if (!part)
        return ASSAY_ERR_NOMEM;
    AS_CLONE_PUT(part, 0x65, 0xc6, 0x04, 0x25);
    as_clone_put(part, sizeof offset, (const uint8_t *)&offset);
    AS_CLONE_PUT(part, 1);
    return 0;
}
