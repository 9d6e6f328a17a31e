/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether a loop can run as a clone. The entries are the addresses of the original where
 * control must enter the clone: the header, other entries, return addresses of calls, targets of
 * jump tables, landing pads. jump_space.c finds space for a jump at each.
 */
#include "patch/internal.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/search.h"

enum { REGION_MOST_B = 1 << 20 };

uint32_t as_patch_block_at(const struct as_patch_code *code, uint64_t address)
{
    const struct as_program *p = code->program;
    const size_t n = as_first_not(i, p->block_n, p->block[code->by_start[i]].start <= address);
    assert(n < 2 || p->block[code->by_start[n - 2]].start <= p->block[code->by_start[n - 1]].start);
    /* A block without bytes, or one inside another, may come between. */
    for (size_t k = n; k-- > 0 && n - k <= 4;) {
        const struct as_block *b = &p->block[code->by_start[k]];
        if (address - b->start < b->size_b)
            return code->by_start[k];
    }
    return AS_NONE;
}

uint32_t as_patch_area_find(const struct as_patch_area *area, uint64_t address)
{
    const struct as_block *block = area->code->program->block;
    const uint32_t n = as_first_not(i, area->blocks, block[area->block[i]].start < address);
    assert(n + 1 >= area->blocks || block[area->block[n]].start <= block[area->block[n + 1]].start);
    return n < area->blocks && block[area->block[n]].start == address ? n : AS_NONE;
}

static bool is_of_body(const struct as_program *p, uint32_t body, uint32_t block)
{
    return p->block[block].body == body && !(p->block[block].bits & AS_BLOCK_UNREACHED);
}

bool as_patch_area_holds(const struct as_patch_area *area, uint32_t block)
{
    const struct as_program *p = area->code->program;
    if (area->is_cooled) {
        const uint32_t k = as_patch_area_find(area, p->block[block].start);
        return k != AS_NONE && area->block[k] == block;
    }
    return area->loop != AS_NONE ? as_loop_holds(p, area->loop, block)
                                 : is_of_body(p, area->body, block);
}

static int add_place(struct as_patch_area *area, uint64_t address, unsigned why, unsigned way)
{
    as_vec_foreach (&area->place, place) {
        if (place->address != address)
            continue;
        place->ways = (uint8_t)(place->ways | way);
        return 0;
    }
    return as_vec_push(&area->place,
                       (struct as_patch_place){address, (uint8_t)why, (uint8_t)way, 0});
}

bool as_patch_area_enters(const struct as_patch_area *area, uint64_t address)
{
    as_vec_foreach (&area->place, place)
        if (place->address == address)
            return place->ways & AS_PATCH_WAY_ENTERS;
    return false;
}

/* ---- Shape ---------------------------------------------------------------------------------- */

static unsigned shape_refusal(const struct as_program *p, const struct as_loop *loop)
{
    if (loop->bits & AS_LOOP_UNRESOLVED)
        return AS_PATCH_REFUSED_UNRESOLVED;
    if (loop->bits & AS_LOOP_UNREACHED || p->block[loop->header].bits & AS_BLOCK_UNREACHED)
        return AS_PATCH_REFUSED_UNREACHED;
    if (loop->bits & AS_LOOP_OUTSIZE)
        return AS_PATCH_REFUSED_OUTSIZE;
    return loop->blocks > AS_REGION_BLOCKS_MOST ? AS_PATCH_REFUSED_LARGE : 0;
}

static bool has_unresolved(const struct as_patch_area *area)
{
    const struct as_program *p = area->code->program;
    for (uint32_t k = 0; k < area->blocks; k++)
        if (p->block[area->block[k]].bits & AS_BLOCK_UNRESOLVED)
            return true;
    return false;
}

/* Returns true for the trampoline of signal handlers. Its unwind range begins one byte before the
 * code. */
static bool is_trampoline(const struct as_patch_area *area)
{
    const struct as_program *p = area->code->program;
    const uint64_t start = p->block[area->header].start;
    const struct as_unwind_range *range;
    const size_t n = as_object_unwind_ranges(p->object, &range);
    const size_t after = as_first_not(i, n, range[i].start <= start);
    return after && range[after - 1].signal_frame && start < range[after - 1].end;
}

static unsigned layout_refusal(const struct as_patch_area *area)
{
    const struct as_block *block = area->code->program->block;
    uint64_t size_b = 0;
    for (uint32_t k = 0; k < area->blocks; k++) {
        const struct as_block *b = &block[area->block[k]];
        size_b += b->size_b;
        if (k && block[area->block[k - 1]].start + block[area->block[k - 1]].size_b > b->start)
            return AS_PATCH_REFUSED_OVERLAP;
    }
    return size_b > REGION_MOST_B ? AS_PATCH_REFUSED_LARGE : 0;
}

/* ---- Entries -------------------------------------------------------------------------------- */

/* Returns true if a call follows directly and nothing happens between both. Calls run at their
 * original address, so no entry into the clone is needed between them. Counting and probes do need
 * one. */
static bool goes_on_calling(const struct as_patch_area *area, const struct as_insn *call)
{
    const struct as_patch_points *points = area->code->points;
    return as_form_of(&call[1])->insn_class == AS_CLASS_CALL && !area->code->counts &&
           (!points || (as_patch_point_find(points, call->address, true) == SIZE_MAX &&
                        as_patch_point_find(points, call[1].address, false) == SIZE_MAX));
}

static int add_returns(struct as_patch_area *area, const struct as_block *b)
{
    const struct as_program *p = area->code->program;
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        const struct as_insn *insn = &p->code.insn[i];
        const bool last = i + 1 == b->first_insn + b->insns;
        if (as_form_of(insn)->insn_class == AS_CLASS_CALL &&
            !(last && b->bits & AS_BLOCK_NORETURN) && (last || !goes_on_calling(area, insn)))
            AS_TRY(add_place(area, insn->address + insn->length, AS_PATCH_REFUSED_CALL,
                             AS_PATCH_WAY_RETURNS));
    }
    return 0;
}

static int add_targets(struct as_patch_area *area, uint32_t from)
{
    const struct as_program *p = area->code->program;
    const struct as_block *b = &p->block[from];
    for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++) {
        const uint32_t to = p->succ[e].block;
        if (p->succ[e].kind == AS_EDGE_TABLE && as_patch_area_holds(area, to))
            AS_TRY(add_place(area, p->block[to].start, AS_PATCH_REFUSED_TABLE, AS_PATCH_WAY_TABLE));
    }
    return 0;
}

/* Returns true if code outside of the loop leads to the block. With `loop` AS_NONE this is code
 * outside of the body. */
static bool is_entered(const struct as_program *p, uint32_t loop, const struct as_block *b)
{
    if (b->bits & (AS_BLOCK_ENTRY | AS_BLOCK_SECOND))
        return true;
    for (uint32_t e = b->first_pred; e < b->first_pred + b->preds; e++) {
        const uint32_t from = p->pred[e].block;
        const bool ours =
            loop == AS_NONE ? is_of_body(p, b->body, from) : as_loop_holds(p, loop, from);
        if (!ours && p->pred[e].kind != AS_EDGE_LANDING)
            return true;
    }
    return false;
}

bool as_patch_has_entries(const struct as_program *p, uint32_t loop)
{
    const struct as_loop *l = &p->loop[loop];
    for (uint32_t k = 0; k < l->blocks; k++) {
        const uint32_t block = p->loop_block[l->first_block + k];
        if (block != l->header && is_entered(p, loop, &p->block[block]))
            return true;
    }
    return false;
}

static int add_places(struct as_patch_area *area)
{
    const struct as_program *p = area->code->program;
    AS_TRY(add_place(area, p->block[area->header].start, AS_PATCH_REFUSED_NARROW,
                     AS_PATCH_WAY_ENTERS));
    for (uint32_t k = 0; k < area->blocks; k++) {
        const struct as_block *b = &p->block[area->block[k]];
        if (is_entered(p, area->loop, b))
            AS_TRY(add_place(area, b->start, AS_PATCH_REFUSED_ENTERED, AS_PATCH_WAY_ENTERS));
        AS_TRY(add_returns(area, b));
        AS_TRY(add_targets(area, area->block[k]));
        if (b->bits & AS_BLOCK_LANDING)
            AS_TRY(add_place(area, b->start, AS_PATCH_REFUSED_LANDING, AS_PATCH_WAY_RETURNS));
    }
    return 0;
}

/* Finds the entries and the space for their jumps. */
static int find_places(struct as_patch_area *out, unsigned *refusal)
{
    *refusal = has_unresolved(out)  ? AS_PATCH_REFUSED_UNRESOLVED
               : is_trampoline(out) ? AS_PATCH_REFUSED_HANDLER
                                    : layout_refusal(out);
    if (*refusal)
        return 0;
    AS_TRY(add_places(out));
    *refusal = as_patch_room_find(out);
    if (!*refusal && out->is_cooled && !as_patch_area_leaves_code(out))
        *refusal = AS_PATCH_REFUSED_NARROW;
    return 0;
}

int as_patch_area_make(struct as_patch_code *code, uint32_t loop, struct as_patch_area *out,
                       unsigned *refusal)
{
    const struct as_program *p = code->program;
    const struct as_loop *l = &p->loop[loop];
    *out = (struct as_patch_area){.code = code,
                                  .body = l->body,
                                  .loop = loop,
                                  .header = l->header,
                                  .block = p->loop_block + l->first_block,
                                  .blocks = l->blocks};
    *refusal = shape_refusal(p, l);
    if (!*refusal && code->varies)
        AS_TRY(as_patch_area_cool(out));
    return *refusal ? 0 : find_places(out, refusal);
}

int as_patch_area_make_body(struct as_patch_code *code, uint32_t body, struct as_patch_area *out,
                            unsigned *refusal)
{
    const struct as_program *p = code->program;
    const struct as_body *b = &p->body[body];
    *out = (struct as_patch_area){
        .code = code, .body = body, .loop = AS_NONE, .header = b->entry_block};
    *refusal = b->bits & AS_BODY_UNRESOLVED           ? AS_PATCH_REFUSED_UNRESOLVED
               : b->bits & AS_BODY_STUB || !b->blocks ? AS_PATCH_REFUSED_UNREACHED
               : b->blocks > AS_REGION_BLOCKS_MOST    ? AS_PATCH_REFUSED_LARGE
                                                      : 0;
    if (*refusal)
        return 0;
    out->block = out->own = as_calloc(b->blocks, sizeof *out->own);
    if (!out->own)
        return AS_ERR_NOMEM;
    for (uint32_t k = b->first_block; k < b->first_block + b->blocks; k++)
        if (as_patch_area_holds(out, k))
            out->own[out->blocks++] = k;
    if (as_patch_area_find(out, p->block[out->header].start) == AS_NONE)
        *refusal = AS_PATCH_REFUSED_UNREACHED;
    return *refusal ? 0 : find_places(out, refusal);
}

void as_patch_area_fini(struct as_patch_area *area)
{
    as_free(area->own);
    as_vec_fini(&area->place);
}
