/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the code of a loop can run as a clone: which places of the original must lead into it
 * (header, return sites of calls, targets of jump tables, landing pads), and whether there is room
 * for a jump at each. A jump may spill over later blocks of the same loop, for once all places lead
 * into the clone nothing runs the original body; never over a block outside, over another place, or
 * over a call, which is executed where it stands.
 */
#include "patch/internal.h"

#include <stdlib.h>

#include "base/search.h"

enum { REGION_MOST_B = 1 << 20 };

uint32_t as_patch_block_at(const struct as_patch_code *code, uint64_t address)
{
    const struct assay_program *p = code->program;
    const size_t n = as_first_not(i, p->block_n, p->block[code->by_start[i]].start <= address);
    /* A block of no bytes, or one that stands in another, may come between. */
    for (size_t k = n; k-- > 0 && n - k <= 4;) {
        const struct assay_block *b = &p->block[code->by_start[k]];
        if (address - b->start < b->size_b)
            return code->by_start[k];
    }
    return ASSAY_NONE;
}

uint32_t as_patch_area_find(const struct as_patch_area *area, uint64_t address)
{
    const struct assay_block *block = area->code->program->block;
    const uint32_t n = as_first_not(i, area->blocks, block[area->block[i]].start < address);
    return n < area->blocks && block[area->block[n]].start == address ? n : ASSAY_NONE;
}

static int add_place(struct as_patch_area *area, uint64_t address, unsigned why)
{
    as_vec_foreach (&area->place, place)
        if (place->address == address)
            return 0;
    return as_vec_push(&area->place, (struct as_patch_place){address, (uint8_t)why});
}

/* ---- Shape ---------------------------------------------------------------------------------- */

static unsigned shape_refusal(const struct assay_program *p, const struct assay_loop *loop)
{
    if (loop->bits & ASSAY_LOOP_IRREDUCIBLE)
        return AS_PATCH_REFUSED_IRREDUCIBLE;
    if (loop->bits & ASSAY_LOOP_UNRESOLVED)
        return AS_PATCH_REFUSED_UNRESOLVED;
    if (loop->bits & ASSAY_LOOP_UNREACHED || p->block[loop->header].bits & ASSAY_BLOCK_UNREACHED)
        return AS_PATCH_REFUSED_UNREACHED;
    if (loop->bits & ASSAY_LOOP_OUTSIZE)
        return AS_PATCH_REFUSED_OUTSIZE;
    return loop->blocks > AS_REGION_BLOCKS_MOST ? AS_PATCH_REFUSED_LARGE : 0;
}

/* All ways in lead to the header, or are places that get a jump of their own. */
static unsigned entry_refusal(const struct as_patch_area *area)
{
    const struct assay_program *p = area->code->program;
    const uint32_t header = p->loop[area->loop].header;
    for (uint32_t k = 0; k < area->blocks; k++) {
        const struct assay_block *b = &p->block[area->block[k]];
        if (b->bits & ASSAY_BLOCK_UNRESOLVED)
            return AS_PATCH_REFUSED_UNRESOLVED;
        if (area->block[k] != header && b->bits & ASSAY_BLOCK_ENTRY)
            return AS_PATCH_REFUSED_ENTERED;
        for (uint32_t e = b->first_pred; area->block[k] != header && e < b->first_pred + b->preds;
             e++) {
            if (!as_patch_holds(p, area->loop, p->pred[e].block) &&
                p->pred[e].kind != ASSAY_EDGE_LANDING)
                return AS_PATCH_REFUSED_ENTERED;
        }
    }
    return 0;
}

static unsigned layout_refusal(const struct as_patch_area *area)
{
    const struct assay_block *block = area->code->program->block;
    uint64_t size_b = 0;
    for (uint32_t k = 0; k < area->blocks; k++) {
        const struct assay_block *b = &block[area->block[k]];
        size_b += b->size_b;
        if (k && block[area->block[k - 1]].start + block[area->block[k - 1]].size_b > b->start)
            return AS_PATCH_REFUSED_OVERLAP;
    }
    return size_b > REGION_MOST_B ? AS_PATCH_REFUSED_LARGE : 0;
}

/* ---- Places --------------------------------------------------------------------------------- */

static int add_returns(struct as_patch_area *area, const struct assay_block *b)
{
    const struct assay_program *p = area->code->program;
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        const struct assay_insn *insn = &p->code.insn[i];
        const bool last = i + 1 == b->first_insn + b->insns;
        if (as_form_of(insn)->insn_class == ASSAY_CLASS_CALL &&
            !(last && b->bits & ASSAY_BLOCK_NORETURN))
            AS_TRY(add_place(area, insn->address + insn->length, AS_PATCH_REFUSED_CALL));
    }
    return 0;
}

static int add_targets(struct as_patch_area *area, uint32_t from)
{
    const struct assay_program *p = area->code->program;
    const struct assay_block *b = &p->block[from];
    for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++) {
        const uint32_t to = p->succ[e].block;
        if (p->succ[e].kind != ASSAY_EDGE_TABLE)
            continue;
        if (as_patch_holds(p, area->loop, to))
            AS_TRY(add_place(area, p->block[to].start, AS_PATCH_REFUSED_TABLE));
        /* What is measured at that edge has nowhere to stand. */
        uint32_t at = b->loop;
        while (at != ASSAY_NONE && as_patch_holds(p, at, to) && p->loop[at].header != to)
            at = at == area->loop ? ASSAY_NONE : p->loop[at].parent;
        area->table_leaves |= at != ASSAY_NONE || area->code->header_of[to] != ASSAY_NONE;
    }
    return 0;
}

static int add_places(struct as_patch_area *area)
{
    const struct assay_program *p = area->code->program;
    AS_TRY(add_place(area, p->block[p->loop[area->loop].header].start, AS_PATCH_REFUSED_NARROW));
    for (uint32_t k = 0; k < area->blocks; k++) {
        const struct assay_block *b = &p->block[area->block[k]];
        AS_TRY(add_returns(area, b));
        AS_TRY(add_targets(area, area->block[k]));
        if (b->bits & ASSAY_BLOCK_LANDING)
            AS_TRY(add_place(area, b->start, AS_PATCH_REFUSED_LANDING));
    }
    return 0;
}

/* ---- Room ----------------------------------------------------------------------------------- */

static bool meets(uint64_t a, uint64_t a_b, uint64_t b, uint64_t b_b)
{
    return a < b + b_b && b < a + a_b;
}

/* The bytes belong to the loop or to nobody, and are code of the file. */
static bool is_ours(const struct as_patch_area *area, uint64_t address)
{
    const struct assay_program *p = area->code->program;
    uint64_t have_b = 0;
    if (!assay_object_bytes(p->object, address, &have_b) || have_b < 8)
        return false;
    for (uint64_t a = address; a < address + AS_PATCH_JUMP_B; a++) {
        const uint32_t block = as_patch_block_at(area->code, a);
        const size_t insn = block == ASSAY_NONE ? assay_code_find(&p->code, a) : 0;
        if (block != ASSAY_NONE && !as_patch_holds(p, area->loop, block))
            return false;
        /* What is in no block and no padding may be code that nothing was seen to reach. */
        if (block == ASSAY_NONE &&
            (insn == SIZE_MAX || as_form_of(&p->code.insn[insn])->insn_class != ASSAY_CLASS_NOP))
            return false;
    }
    return true;
}

static bool hits_call(const struct as_patch_area *area, uint64_t address)
{
    const struct assay_program *p = area->code->program;
    for (size_t i = assay_code_find(&p->code, address);
         i < p->code.n && p->code.insn[i].address < address + AS_PATCH_JUMP_B; i++) {
        if (as_form_of(&p->code.insn[i])->insn_class == ASSAY_CLASS_CALL)
            return true;
    }
    return false;
}

static int by_address(const void *a, const void *b)
{
    const uint64_t x = ((const struct as_patch_place *)a)->address;
    const uint64_t y = ((const struct as_patch_place *)b)->address;
    return (x > y) - (x < y);
}

static unsigned room_refusal(struct as_patch_area *area)
{
    const struct as_patch_place header = area->place.at[0];
    const size_t n = area->place.n;
    struct as_patch_place *at = area->place.at;
    if (n > AS_SITES_MOST)
        return AS_PATCH_REFUSED_LARGE;
    for (size_t i = 0; i < n; i++) {
        if (!is_ours(area, at[i].address) || hits_call(area, at[i].address))
            return at[i].why;
        if (i && meets(header.address, AS_PATCH_JUMP_B, at[i].address, AS_PATCH_JUMP_B))
            return at[i].why;
    }
    qsort(at + 1, n - 1, sizeof *at, by_address);
    for (size_t i = 2; i < n; i++) {
        if (at[i].address - at[i - 1].address < AS_PATCH_JUMP_B)
            return at[i].why;
    }
    return 0;
}

/* A place at the header itself would be taken for another entry. */
static bool has_place_at_header(const struct as_patch_area *area)
{
    const struct assay_program *p = area->code->program;
    const uint64_t header = area->place.at[0].address;
    const struct assay_insn *insn;
    for (uint32_t k = 0; k < area->blocks; k++) {
        const struct assay_block *b = &p->block[area->block[k]];
        if (b->start == header && b->bits & ASSAY_BLOCK_LANDING)
            return true;
        for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
            insn = &p->code.insn[i];
            if (insn->address + insn->length == header &&
                as_form_of(insn)->insn_class == ASSAY_CLASS_CALL)
                return true;
        }
    }
    return false;
}

int as_patch_area_make(struct as_patch_code *code, uint32_t loop, enum as_patch_mode mode,
                       struct as_patch_area *out, unsigned *refusal)
{
    const struct assay_program *p = code->program;
    const struct assay_loop *l = &p->loop[loop];
    const bool timed = mode == AS_PATCH_TIME || mode == AS_PATCH_SAMPLE;
    *out = (struct as_patch_area){
        .code = code, .loop = loop, .block = p->loop_block + l->first_block, .blocks = l->blocks};
    *refusal = shape_refusal(p, l);
    if (!*refusal)
        *refusal = entry_refusal(out);
    if (!*refusal)
        *refusal = layout_refusal(out);
    if (*refusal)
        return 0;
    AS_TRY(add_places(out));
    *refusal = room_refusal(out);
    if (!*refusal && timed && out->table_leaves)
        *refusal = AS_PATCH_REFUSED_TABLE_LEAVES;
    if (!*refusal && timed && has_place_at_header(out))
        *refusal = AS_PATCH_REFUSED_CALL;
    return 0;
}

void as_patch_area_fini(struct as_patch_area *area)
{
    as_vec_fini(&area->place);
}
