/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions of a loop that the program selects at run time, because its arrays may overlap. They are
 * a vectorised and a scalar copy of one source loop. A branch before them compares the addresses of
 * two arrays. A branch on the trip count alone is not such a selection.
 */
#include "base/error.h"
#include "quality/vector_verdict.h"

#define MATES_MOST  16
#define CHECKS_MOST 32 /* max blocks to examine above a loop */

/* ---- Copies of the source loop ------------------------------------------------------------- */

static bool is_vectorised(const struct as_program *program, uint32_t loop)
{
    const struct as_loop *it = &program->loop[loop];

    for (uint32_t i = 0; i < it->blocks; i++) {
        const struct as_block *block = &program->block[program->loop_block[it->first_block + i]];

        for (uint32_t k = 0; k < block->insns; k++)
            if (as_insn_lanes(&program->code.insn[block->first_insn + k], NULL) == AS_LANES_MANY)
                return true;
    }
    return false;
}

/* Returns true if control reaches the header of `loop` from block `from` without entering the loop
 * `around`. Examines short paths only. */
static bool leads_to(const struct as_program *program, uint32_t from, uint32_t loop,
                     uint32_t around)
{
    uint32_t queue[CHECKS_MOST], n = 0;
    const uint32_t header = program->loop[loop].header, other = program->loop[around].header;

    queue[n++] = from;
    for (uint32_t i = 0; i < n; i++) {
        const struct as_block *block = &program->block[queue[i]];

        if (queue[i] == header)
            return true;
        if (queue[i] == other)
            continue;
        for (uint32_t e = 0; e < block->succs && n < CHECKS_MOST; e++) {
            const struct as_edge *edge = &program->succ[block->first_succ + e];
            bool known = edge->back;

            for (uint32_t k = 0; k < n && !known; k++)
                known = queue[k] == edge->block;
            if (!known)
                queue[n++] = edge->block;
        }
    }
    return false;
}

/* ---- Checks -------------------------------------------------------------------------------- */

/* Returns the base registers of the operands of a loop outside the stack frame. */
static struct as_regset bases_of(const struct as_program *program, uint32_t loop)
{
    const struct as_loop *it = &program->loop[loop];
    struct as_regset set = {{0, 0}};

    for (uint32_t i = 0; i < it->blocks; i++) {
        const struct as_block *block = &program->block[program->loop_block[it->first_block + i]];

        for (uint32_t k = 0; k < block->insns; k++) {
            const struct as_insn *insn = &program->code.insn[block->first_insn + k];

            if (insn->bits & AS_INSN_MEM && !(insn->bits & AS_INSN_STACKMEM) &&
                insn->base < AS_REG_VEC)
                set.word[0] |= 1ull << insn->base;
        }
    }
    return set;
}

/* Adds the registers that the bases are copied or computed from above the loop. Checks may compare
 * the original pointers. */
static void add_origins(const struct as_program *program, uint32_t block, uint64_t *bases)
{
    for (unsigned steps = 0; block != AS_NONE && steps < CHECKS_MOST; steps++) {
        const struct as_block *at = &program->block[block];

        for (uint32_t k = at->insns; k-- > 0;) {
            const struct as_insn *insn = &program->code.insn[at->first_insn + k];
            const struct as_form *form = as_form_get(insn->form);

            if (insn->reg[0] >= AS_REG_VEC || !(*bases >> insn->reg[0] & 1))
                continue;
            if (form->traits & AS_TRAIT_REGMOVE && insn->reg[1] < AS_REG_VEC)
                *bases |= 1ull << insn->reg[1];
            else if (form->insn_class == AS_CLASS_LEA && insn->base < AS_REG_VEC)
                *bases |= 1ull << insn->base;
        }
        block = at->idom;
    }
}

/* Replaces the wanted registers that an instruction writes by its inputs. `*flags` is true if the
 * flags are wanted, too. */
static void follow_back(struct as_regset *wanted, bool *flags, const struct as_insn *insn)
{
    const uint64_t general = (1ull << AS_REG_VEC) - 1;
    struct as_effects effects;

    as_insn_effects(insn, &effects);
    if (!(effects.written.word[0] & wanted->word[0] & general) &&
        !(*flags && effects.flags_written))
        return;
    *flags = (*flags && !effects.flags_written) || effects.flags_read;
    wanted->word[0] &= ~(effects.written.word[0] & ~effects.read.word[0]);
    wanted->word[0] |= effects.read.word[0] & general;
}

/* Returns the registers at the start of the block that determine the flags at its end. */
static struct as_regset compared_in(const struct as_program *program, const struct as_block *block)
{
    struct as_regset wanted = {{0, 0}};
    bool flags = true;

    for (uint32_t k = block->insns - 1; k-- > 0;)
        follow_back(&wanted, &flags, &program->code.insn[block->first_insn + k]);
    return wanted;
}

static bool is_check(const struct as_program *program, const struct as_block *block, uint64_t bases)
{
    if (block->succs < 2 || block->insns < 2 ||
        as_form_get(program->code.insn[block->first_insn + block->insns - 1].form)->insn_class !=
            AS_CLASS_BRANCH)
        return false;
    return __builtin_popcountll(compared_in(program, block).word[0] & bases) >= 2;
}

/* Adds the branches above the vectorised loop that compare two of its arrays and lead to the scalar
 * loop. Returns 1 if there are any, else 0. Errors: NOMEM. */
static int find_checks(struct as_verdict *v, uint32_t vector, uint32_t scalar)
{
    const struct as_program *program = v->program;
    uint64_t bases = bases_of(program, scalar).word[0] | bases_of(program, vector).word[0];
    uint32_t at = program->block[program->loop[vector].header].idom;
    bool any = false;

    add_origins(program, at, &bases);
    add_origins(program, program->block[program->loop[scalar].header].idom, &bases);
    for (unsigned steps = 0; at != AS_NONE && steps < CHECKS_MOST; steps++) {
        const struct as_block *block = &program->block[at];

        at = block->idom;
        if (!is_check(program, block, bases) ||
            !leads_to(program, (uint32_t)(block - program->block), scalar, vector))
            continue;
        if (!any)
            AS_TRY(as_verdict_reason(v, AS_VECTOR_ALIAS, vector == v->loop ? scalar : vector));
        any = true;
        AS_TRY(as_verdict_shows(v, block->first_insn + block->insns - 1));
    }
    return any;
}

int as_verdict_versions(struct as_verdict *v, struct as_error *err)
{
    const struct as_program *program = v->program;
    const struct as_loop *loop = &program->loop[v->loop];
    const struct as_body *body = &program->body[loop->body];
    const bool vectorised = v->out->packed_n > 0;
    unsigned mates = 0;

    for (uint32_t i = body->first_loop; i < body->first_loop + body->loops; i++) {
        if (i == v->loop || program->loop[i].group != loop->group ||
            program->loop[i].bits & AS_LOOP_OUTSIZE || mates++ >= MATES_MOST ||
            is_vectorised(program, i) == vectorised)
            continue;
        const int rc = find_checks(v, vectorised ? v->loop : i, vectorised ? i : v->loop);

        if (rc < 0)
            return as_error_nomem(err, "the versions of a loop");
        if (rc > 0)
            return 0;
    }
    return 0;
}
