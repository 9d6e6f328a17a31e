/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the iterations of a loop that make no call: the blocks on cycles through the header without
 * a call. A variant cannot make a call. Calls that are rare (an error, a list that grows) need not
 * prevent variants of the rest of the loop. So the other blocks become exits. The program's code
 * runs there up to the header, where the jump leads to another instance. So this code must remain
 * unchanged except for the header's own block.
 */
#include "patch/internal.h"

#include <string.h>

enum { COLD_HARD = 1, COLD_FROM = 2, COLD_BACK = 4 };

static bool is_hard(const struct as_program *p, const struct as_block *b)
{
    for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++)
        if (p->succ[e].kind == AS_EDGE_TABLE || p->succ[e].kind == AS_EDGE_LANDING)
            return true;
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++)
        if (as_form_of(&p->code.insn[i])->insn_class == AS_CLASS_CALL)
            return true;
    return b->bits & AS_BLOCK_LANDING;
}

static uint32_t area_number(const struct as_patch_area *area, uint32_t block)
{
    const uint32_t k = as_patch_area_find(area, area->code->program->block[block].start);
    return k != AS_NONE && area->block[k] == block ? k : AS_NONE;
}

/* Marks with `bit` the blocks that the header reaches without a hard block. For COLD_BACK it marks
 * the blocks that reach the header. */
static void spread_marks(const struct as_patch_area *area, uint8_t *state, uint32_t *stack,
                         uint8_t bit)
{
    const struct as_program *p = area->code->program;
    const bool back = bit == COLD_BACK;
    uint32_t n = 0;
    stack[n++] = area_number(area, area->header);
    while (n) {
        const struct as_block *b = &p->block[area->block[stack[--n]]];
        const struct as_edge *edge = back ? p->pred + b->first_pred : p->succ + b->first_succ;
        for (uint32_t e = 0; e < (back ? b->preds : b->succs); e++) {
            const uint32_t k = area_number(area, edge[e].block);
            if (k == AS_NONE || state[k] & (COLD_HARD | bit))
                continue;
            state[k] |= bit;
            stack[n++] = k;
        }
    }
}

/* Reduces the area to the blocks on cycles without a hard block. Returns false if all blocks
 * remain, or if the header does not. */
static bool choose_blocks(struct as_patch_area *area, uint8_t *state, uint32_t *stack)
{
    const struct as_program *p = area->code->program;
    const uint32_t header = area_number(area, area->header);
    uint32_t n = 0;
    for (uint32_t k = 0; k < area->blocks; k++)
        state[k] = is_hard(p, &p->block[area->block[k]]) ? COLD_HARD : 0;
    if (header == AS_NONE || state[header] & COLD_HARD)
        return false;
    spread_marks(area, state, stack, COLD_FROM);
    spread_marks(area, state, stack, COLD_BACK);
    for (uint32_t k = 0; k < area->blocks; k++)
        if (state[k] == (COLD_FROM | COLD_BACK))
            stack[n++] = area->block[k];
    if (state[header] != (COLD_FROM | COLD_BACK) || n == area->blocks)
        return false;
    area->blocks = n;
    return true;
}

int as_patch_area_cool(struct as_patch_area *area)
{
    uint8_t *state = as_calloc((size_t)area->blocks + 1, sizeof *state);
    uint32_t *stack = as_calloc((size_t)area->blocks + 1, sizeof *stack);
    int rc = state && stack ? 0 : AS_ERR_NOMEM;
    if (rc == 0 && choose_blocks(area, state, stack)) {
        area->block = area->own = stack;
        area->is_cooled = true;
        stack = NULL;
    }
    as_free(state);
    as_free(stack);
    return rc;
}

bool as_patch_area_leaves_code(const struct as_patch_area *area)
{
    const struct as_block *header = &area->code->program->block[area->header];
    return area->place.n == 1 && !area->place.at[0].hop && header->size_b >= AS_PATCH_JUMP_B;
}
