/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds how often the header of a loop ran from two values of one register. This is either an
 * induction register, which changes once per iteration by a constant. Or it is an unused register
 * in which the clone counts.
 */
#include "patch/internal.h"

#include <string.h>

/* Registers that a called function may overwrite. */
#define CALL_DESTROYS 0x0fc7u

bool as_patch_dominates(const struct as_program *p, uint32_t a, uint32_t b)
{
    while (b != a && b != AS_NONE)
        b = p->block[b].idom;
    return b == a;
}

static uint32_t general(struct as_regset set)
{
    return (uint32_t)(set.word[0] & 0xffff);
}

struct writes {
    uint8_t n[16]; /* number of writes, saturated at 2 */
    uint32_t insn[16], block[16];
};

static void note_writes(uint32_t registers, uint32_t insn, uint32_t block, unsigned weight,
                        struct writes *w)
{
    for (unsigned r = 0; r < 16; r++) {
        if (!(registers >> r & 1))
            continue;
        w->n[r] = (uint8_t)(w->n[r] + weight > 2 ? 2 : w->n[r] + weight);
        w->insn[r] = insn;
        w->block[r] = block;
    }
}

static void find_writes(const struct as_program *p, const uint32_t *block, uint32_t blocks,
                        struct writes *w)
{
    memset(w, 0, sizeof *w);
    for (uint32_t k = 0; k < blocks; k++) {
        const uint32_t b = block[k];
        for (uint32_t i = p->block[b].first_insn; i < p->block[b].first_insn + p->block[b].insns;
             i++) {
            struct as_effects effects;
            as_insn_effects(&p->code.insn[i], &effects);
            note_writes(general(effects.written), i, b, 1, w);
            if (as_form_of(&p->code.insn[i])->insn_class == AS_CLASS_CALL)
                note_writes(CALL_DESTROYS, i, b, 2, w);
        }
    }
}

int64_t as_patch_step_of(const struct as_insn *insn, unsigned reg, uint8_t *width_b)
{
    const struct as_form *form = as_form_of(insn);
    const struct as_operand *to = &form->operand[0];
    if (form->operands == 0 || to->kind != AS_OPERAND_REG || to->width_b < 4 ||
        insn->reg[to->slot] != reg || insn->bits & AS_INSN_IMM64 || insn->wrap)
        return 0;
    *width_b = (uint8_t)to->width_b;
    if (strcmp(form->mnemonic, "inc") == 0)
        return 1;
    if (strcmp(form->mnemonic, "dec") == 0)
        return -1;
    if (form->insn_class == AS_CLASS_LEA)
        return insn->base == reg && insn->index == AS_REG_NONE ? insn->disp : 0;
    if (form->operands != 2 || form->operand[1].kind != AS_OPERAND_IMM)
        return 0;
    if (strcmp(form->mnemonic, "add") == 0)
        return insn->imm;
    return strcmp(form->mnemonic, "sub") == 0 ? -(int64_t)insn->imm : 0;
}

bool as_patch_in_every_iteration(const struct as_program *p, uint32_t loop,
                                 const struct as_patch_area *area, uint32_t block)
{
    const struct as_block *header = &p->block[p->loop[loop].header];
    if (p->block[block].loop != loop)
        return false; /* an inner loop repeats it */
    for (uint32_t e = header->first_pred; e < header->first_pred + header->preds; e++) {
        const uint32_t from = p->pred[e].block;
        if ((area ? as_patch_area_holds(area, from) : as_loop_holds(p, loop, from)) &&
            !as_patch_dominates(p, block, from))
            return false;
    }
    return true;
}

/* Returns true if control reaches block `b` from `a` in the same iteration. */
static bool reaches(const struct as_program *p, uint32_t loop, uint32_t a, uint32_t b,
                    uint8_t *seen, uint32_t *stack)
{
    const struct as_body *body = &p->body[p->loop[loop].body];
    uint32_t n = 0;
    stack[n++] = a;
    while (n) {
        const struct as_block *at = &p->block[stack[--n]];
        for (uint32_t e = at->first_succ; e < at->first_succ + at->succs; e++) {
            const uint32_t to = p->succ[e].block;
            if (to == p->loop[loop].header || !as_loop_holds(p, loop, to) ||
                seen[to - body->first_block])
                continue;
            if (to == b)
                return true;
            seen[to - body->first_block] = 1;
            stack[n++] = to;
        }
    }
    return false;
}

int as_patch_induction_add(const struct as_program *p, uint32_t loop,
                           const struct as_patch_induction *it, uint32_t from)
{
    const size_t blocks = p->body[p->loop[loop].body].blocks;
    if (as_patch_dominates(p, it->block, from))
        return 0;
    uint8_t *seen = as_calloc(blocks, 1);
    uint32_t *stack = as_calloc(blocks + 1, sizeof *stack);
    const bool may = !seen || !stack || reaches(p, loop, it->block, from, seen, stack);
    as_free(seen);
    as_free(stack);
    return may ? -1 : 1;
}

/* Returns true if the number of steps at every exit is known relative to the header. */
static bool tells_all_exits(const struct as_program *p, uint32_t loop,
                            const struct as_patch_induction *it)
{
    const struct as_loop *l = &p->loop[loop];
    for (uint32_t k = 0; k < l->blocks; k++) {
        const uint32_t b = p->loop_block[l->first_block + k];
        const struct as_block *block = &p->block[b];
        bool leaves = block->bits & AS_BLOCK_TAILCALL;
        for (uint32_t e = block->first_succ; e < block->first_succ + block->succs; e++)
            leaves |= !as_loop_holds(p, loop, p->succ[e].block);
        if (leaves && as_patch_induction_add(p, loop, it, b) < 0)
            return false;
    }
    return true;
}

struct as_patch_induction as_patch_induction_find(const struct as_program *p, uint32_t loop)
{
    struct as_patch_induction it = {.reg = AS_PATCH_NONE};
    struct writes w;
    find_writes(p, p->loop_block + p->loop[loop].first_block, p->loop[loop].blocks, &w);
    for (unsigned r = 0; r < 16; r++) {
        if (r == 4 || w.n[r] != 1 || !as_patch_in_every_iteration(p, loop, NULL, w.block[r]))
            continue;
        it.step = as_patch_step_of(&p->code.insn[w.insn[r]], r, &it.width_b);
        it.block = w.block[r];
        if (it.step && tells_all_exits(p, loop, &it)) {
            it.reg = (uint8_t)r;
            return it;
        }
    }
    it.step = 0;
    return it;
}

/* Returns the 8-byte register that `insn` adds to `reg`, and sets `times` to its factor. Returns
 * AS_PATCH_NONE for other instructions. */
static uint8_t added_register(const struct as_insn *insn, unsigned reg, uint8_t *times)
{
    const struct as_form *form = as_form_of(insn);
    const struct as_operand *to = &form->operand[0], *from = &form->operand[1];
    unsigned added = AS_REG_NONE;
    *times = 1;
    if (form->operands != 2 || to->kind != AS_OPERAND_REG || to->width_b != 8 ||
        insn->reg[to->slot] != reg || insn->wrap)
        return AS_PATCH_NONE;
    if (strcmp(form->mnemonic, "add") == 0 && from->kind == AS_OPERAND_REG)
        added = insn->reg[from->slot];
    else if (form->insn_class == AS_CLASS_LEA && insn->disp == 0 && insn->base == reg) {
        added = insn->index;
        *times = insn->scale;
    } else if (form->insn_class == AS_CLASS_LEA && insn->disp == 0 && insn->index == reg &&
               insn->scale == 1)
        added = insn->base;
    return added < 16 && added != reg ? (uint8_t)added : AS_PATCH_NONE;
}

void as_patch_steps_of(const struct as_patch_code *code, const struct as_patch_area *area,
                       uint32_t loop, const uint32_t *block, uint32_t blocks,
                       struct as_patch_step out[16])
{
    const struct as_program *p = code->program;
    struct writes w;
    memset(out, 0, 16 * sizeof *out);
    find_writes(p, block, blocks, &w);
    for (unsigned r = 0; r < 16; r++) {
        uint8_t width_b = 0;
        out[r] = (struct as_patch_step){
            .is_known = w.n[r] == 0, .by_reg = AS_PATCH_NONE, .insn = AS_NONE};
        if (w.n[r] != 1 || !as_patch_in_every_iteration(p, loop, area, w.block[r]))
            continue;
        out[r].by = as_patch_step_of(&p->code.insn[w.insn[r]], r, &width_b);
        out[r].is_known = out[r].by != 0 && width_b == 8;
        out[r].width_b = width_b;
        out[r].insn = w.insn[r];
        out[r].by_reg = added_register(&p->code.insn[w.insn[r]], r, &out[r].times);
        if (out[r].by_reg != AS_PATCH_NONE && w.n[out[r].by_reg])
            out[r].by_reg = AS_PATCH_NONE;
    }
}

void as_patch_steps_find(const struct as_patch_area *area, struct as_patch_step out[16])
{
    memset(out, 0, 16 * sizeof *out);
    if (area->loop != AS_NONE)
        as_patch_steps_of(area->code, area, area->loop, area->block, area->blocks, out);
}

int as_patch_tally_find(struct as_patch_code *code, uint32_t loop, uint32_t taken, uint8_t *reg)
{
    const struct as_program *p = code->program;
    const struct as_loop *l = &p->loop[loop];
    const uint32_t body = p->block[l->header].body;
    uint32_t used = taken | AS_LIVE_STACK;
    *reg = AS_PATCH_NONE;
    for (uint32_t k = 0; k < l->blocks; k++) {
        const struct as_block *b = &p->block[p->loop_block[l->first_block + k]];
        for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
            struct as_effects effects;
            const unsigned kind = as_form_of(&p->code.insn[i])->insn_class;
            if (kind == AS_CLASS_CALL || kind == AS_CLASS_SYSCALL)
                return 0;
            as_insn_effects(&p->code.insn[i], &effects);
            used |= general(effects.written) | general(effects.read);
        }
    }
    AS_TRY(as_live_find(code, body));
    used |= as_live_at(code, l->header);
    for (unsigned r = 16; r-- > 0 && *reg == AS_PATCH_NONE;) {
        if (!(used >> r & 1))
            *reg = (uint8_t)r;
    }
    return 0;
}
