/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the general registers and status flags that are live at the start of each block of a body.
 * The analysis is a backward flow over its blocks (Aho et al., ch. 9.2.5). A register that is dead
 * here gets overwritten in a running program, so everything unknown is live. This includes
 * everything at calls, at jumps to other bodies and at unknown jumps. At a return, all is live
 * except registers that the body itself destroys: with -fipa-ra callers keep values in registers
 * that a callee does not touch.
 */
#include "patch/internal.h"

#include <string.h>

enum {
    /* rcx, rsi, rdi, r8 to r11: neither return values nor preserved by calls. */
    VOLATILE_ONLY = 1 << 1 | 1 << 6 | 1 << 7 | 0xf00
};

struct flow {
    const struct as_program *p;
    const struct as_body *body;
    uint32_t at_return;
    uint32_t *use, *keep; /* per block */
};

static uint32_t registers(struct as_regset set)
{
    return (uint32_t)(set.word[0] & 0xffff);
}

static uint32_t status(unsigned flags)
{
    return (uint32_t)flags << AS_LIVE_FLAGS & AS_LIVE_STATUS;
}

/* Returns the registers that the body overwrites without restoring them. A body that pushes such a
 * register may restore it, so the result is 0. */
static uint32_t destroyed(const struct as_program *p, const struct as_body *body)
{
    uint32_t written = 0;
    for (uint32_t b = body->first_block; b < body->first_block + body->blocks; b++) {
        const struct as_block *block = &p->block[b];
        for (uint32_t i = block->first_insn; i < block->first_insn + block->insns; i++) {
            const struct as_insn *insn = &p->code.insn[i];
            const struct as_form *form = as_form_of(insn);
            struct as_effects effects;
            as_insn_effects(insn, &effects);
            if (form->insn_class != AS_CLASS_CALL)
                written |= registers(effects.written);
            if (strncmp(form->mnemonic, "push", 4) == 0 && form->operands &&
                form->operand[0].kind == AS_OPERAND_REG &&
                VOLATILE_ONLY >> (insn->reg[form->operand[0].slot] & 31) & 1)
                return 0;
        }
    }
    return written & VOLATILE_ONLY;
}

static void step_back(const struct flow *f, const struct as_insn *insn, uint32_t *use,
                      uint32_t *keep)
{
    const struct as_form *form = as_form_of(insn);
    struct as_effects e;
    if (form->insn_class == AS_CLASS_CALL || form->insn_class == AS_CLASS_SYSCALL ||
        form->insn_class == AS_CLASS_INVALID || form->insn_class == AS_CLASS_SYSTEM ||
        form->insn_class == AS_CLASS_TRAP) {
        *use = AS_LIVE_ALL;
        return;
    }
    if (form->insn_class == AS_CLASS_RETURN) {
        *use = f->at_return;
        *keep = 0;
        return;
    }
    as_insn_effects(insn, &e);
    const uint32_t sure = (registers(e.written) & ~registers(e.merged)) |
                          status(e.flags_written & ~(unsigned)e.flags_maybe);
    const uint32_t read = registers(e.read) | status(e.flags_read);
    *use = (*use & ~sure) | read;
    *keep &= ~sure;
}

static bool leads_away(const struct as_block *block)
{
    return block->bits & (AS_BLOCK_UNRESOLVED | AS_BLOCK_TAILCALL) ||
           (block->succs == 0 && !(block->bits & AS_BLOCK_RETURN));
}

static void summarise_block(const struct flow *f, uint32_t b, uint32_t *use, uint32_t *keep)
{
    const struct as_block *block = &f->p->block[b];
    *use = leads_away(block) ? AS_LIVE_ALL : 0;
    *keep = AS_LIVE_ALL;
    for (uint32_t i = block->first_insn + block->insns; i-- > block->first_insn;)
        step_back(f, &f->p->code.insn[i], use, keep);
}

static bool again(const struct flow *f, uint32_t *live)
{
    bool changed = false;
    for (uint32_t k = f->body->blocks; k-- > 0;) {
        const struct as_block *block = &f->p->block[f->body->first_block + k];
        uint32_t out = 0;
        for (uint32_t e = block->first_succ; e < block->first_succ + block->succs; e++)
            out |= live[f->p->succ[e].block - f->body->first_block];
        const uint32_t in = f->use[k] | (out & f->keep[k]) | AS_LIVE_STACK;
        changed |= in != live[k];
        live[k] = in;
    }
    return changed;
}

int as_live_find(struct as_patch_code *code, uint32_t body)
{
    struct flow f = {code->program, &code->program->body[body], 0, NULL, NULL};
    if (code->live_body == body)
        return 0;
    const size_t n = f.body->blocks;
    if (3 * n > code->live_room) {
        uint32_t *grown = as_realloc(code->live, 3 * n, sizeof *grown);
        if (!grown)
            return AS_ERR_NOMEM;
        code->live = grown;
        code->live_room = 3 * n;
    }
    f.use = code->live + n;
    f.keep = code->live + 2 * n;
    f.at_return = AS_LIVE_ALL & ~destroyed(f.p, f.body);
    for (uint32_t k = 0; k < n; k++)
        summarise_block(&f, f.body->first_block + k, &f.use[k], &f.keep[k]);
    memset(code->live, 0, n * sizeof *code->live);
    while (again(&f, code->live))
        ;
    code->live_body = body;
    code->live_end = f.at_return;
    return 0;
}

uint32_t as_live_before(const struct as_patch_code *code, uint32_t block, uint32_t insn)
{
    const struct as_program *p = code->program;
    const struct as_block *b = &p->block[block];
    const struct flow f = {p, &p->body[b->body], code->live_end, NULL, NULL};
    uint32_t live = leads_away(b) ? AS_LIVE_ALL : AS_LIVE_STACK, keep = 0;
    for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++)
        live |= as_live_at(code, p->succ[e].block);
    for (uint32_t i = b->first_insn + b->insns; i-- > insn;)
        step_back(&f, &p->code.insn[i], &live, &keep);
    return live | AS_LIVE_STACK;
}
