/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the instructions of a view. The registers that a call destroys are in the System V ABI,
 * AMD64 supplement 1.0, section 3.2.1. The caller owns rbx, rbp, rsp, r12 to r15 and the direction
 * flag.
 */
#include "code/steps.h"

#include <assert.h>

#include "base/error.h"
#include "base/search.h"

/* rax rcx rdx rsi rdi r8-r11; CLOBBERED adds all vector, mask and x87 registers. */
#define CLOBBERED_GPRS ((uint64_t)0x0fc7)
#define CLOBBERED      (CLOBBERED_GPRS | ~(uint64_t)0 << AS_REG_VEC)

enum { LEAF_INSNS = 64 };

/* Returns the body that begins at `address` if all its writes are known: it is small and calls
 * nothing. Returns NULL otherwise. */
static const struct as_body *leaf_at(const struct as_program *program, uint64_t address)
{
    const size_t at = as_first_not(k, program->body_n, program->body[k].entry < address);
    assert(at + 1 >= program->body_n || program->body[at].entry <= program->body[at + 1].entry);
    if (at == program->body_n || program->body[at].entry != address)
        return NULL;
    const struct as_body *body = &program->body[at];
    const uint8_t beyond = AS_BLOCK_CALL | AS_BLOCK_TAILCALL | AS_BLOCK_UNRESOLVED;
    uint32_t insns = 0;
    for (uint32_t i = 0; i < body->blocks && insns <= LEAF_INSNS; i++) {
        const struct as_block *block = &program->block[body->first_block + i];
        if (block->bits & beyond)
            return NULL;
        insns += block->insns;
    }
    return insns && insns <= LEAF_INSNS ? body : NULL;
}

static void call_effects(const struct as_program *program, const struct as_insn *insn,
                         struct as_effects *out)
{
    uint64_t target, destroyed = CLOBBERED;
    uint8_t flags = AS_FLAGS_ARITHMETIC;
    const struct as_body *leaf =
        as_insn_target_fast(insn, &target) ? leaf_at(program, target) : NULL;
    if (leaf) {
        destroyed = flags = 0;
        for (uint32_t i = 0; i < leaf->blocks; i++) {
            const struct as_block *block = &program->block[leaf->first_block + i];
            for (uint32_t k = 0; k < block->insns; k++) {
                struct as_effects e;
                as_insn_effects(&program->code.insn[block->first_insn + k], &e);
                destroyed |= e.written.word[0];
                flags |= e.flags_written;
            }
        }
    }
    out->written.word[0] |= destroyed & CLOBBERED;
    out->flags_written |= flags & AS_FLAGS_ARITHMETIC;
    out->flags_undefined |= flags & AS_FLAGS_ARITHMETIC;
}

void as_step_effects(const struct as_program *program, const struct as_insn *insn,
                     struct as_effects *out)
{
    as_insn_effects(insn, out);
    unsigned insn_class = as_form_of(insn)->insn_class;
    if (insn_class == AS_CLASS_NOP)
        out->read = (struct as_regset){{0, 0}}; /* the address of a nop is padding */
    if (insn_class == AS_CLASS_CALL)
        call_effects(program, insn, out);
}

int as_steps_make(const struct as_iteration_view *view, struct as_arena *arena,
                  struct as_steps *out)
{
    const struct as_program *program = view->iteration->program;
    uint32_t n = as_iteration_view_insns(view);
    *out = (struct as_steps){.view = view};
    out->insn = as_arena_alloc(arena, (size_t)n * sizeof *out->insn, _Alignof(uint32_t));
    out->effects =
        as_arena_alloc(arena, (size_t)n * sizeof *out->effects, _Alignof(struct as_effects));
    if (!out->insn || !out->effects)
        return AS_ERR_NOMEM;
    for (uint32_t i = 0; i < view->n; i++) {
        const struct as_block *b = as_iteration_view_block(view, i);
        for (uint32_t k = 0; k < b->insns; k++) {
            out->insn[out->n] = b->first_insn + k;
            as_step_effects(program, &program->code.insn[b->first_insn + k], &out->effects[out->n]);
            out->n++;
        }
    }
    return 0;
}
