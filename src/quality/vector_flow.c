/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Obstacles to vectorisation in the control flow of a loop: calls, several paths, and exits that
 * are unknown before the loop runs.
 */
#include "base/error.h"
#include "isa/isa.h"
#include "quality/vector_verdict.h"

static const struct as_form *form_at(const struct as_verdict *v, uint32_t insn)
{
    return as_form_get(v->program->code.insn[insn].form);
}

/* ---- Calls --------------------------------------------------------------------------------- */

static int is_call(struct as_verdict *v, const struct as_block *block, uint32_t insn)
{
    (void)block;
    if (form_at(v, insn)->insn_class != AS_CLASS_CALL)
        return 0;
    if (v->reason.n == 0)
        AS_TRY(as_verdict_reason(v, AS_VECTOR_CALL, 0));
    v->reason.at[0].amount++;
    return as_verdict_shows(v, insn);
}

/* ---- Paths --------------------------------------------------------------------------------- */

static bool is_within(const struct as_verdict *v, uint32_t block)
{
    uint32_t at = v->program->block[block].loop;

    while (at != AS_NONE && at != v->loop)
        at = v->program->loop[at].parent;
    return at == v->loop;
}

static bool ends_in_branch(const struct as_verdict *v, const struct as_block *block, uint32_t insn)
{
    return insn + 1 == block->first_insn + block->insns &&
           form_at(v, insn)->insn_class == AS_CLASS_BRANCH;
}

static int shows_ways(struct as_verdict *v, const struct as_block *block, uint32_t insn)
{
    unsigned ahead = 0;

    if (!ends_in_branch(v, block, insn))
        return 0;
    for (uint32_t i = 0; i < block->succs; i++) {
        const struct as_edge *edge = &v->program->succ[block->first_succ + i];

        ahead += edge->kind != AS_EDGE_LANDING && !edge->back && is_within(v, edge->block);
    }
    return ahead > 1 ? as_verdict_shows(v, insn) : 0;
}

/* ---- Exits --------------------------------------------------------------------------------- */

static bool is_counted_reg(const struct as_verdict *v, unsigned reg)
{
    for (size_t i = 0; i < v->streams.induction_n; i++)
        if (v->streams.induction[i].reg == reg && v->streams.induction[i].step)
            return true;
    return false;
}

/* Returns the instruction of `block` that sets the flags of its branch, or AS_NONE. */
static uint32_t flags_setter(const struct as_verdict *v, const struct as_block *block)
{
    for (uint32_t k = block->insns - 1; k-- > 0;)
        if (form_at(v, block->first_insn + k)->flags_written)
            return block->first_insn + k;
    return AS_NONE;
}

/* Returns true if the branch compares a counter of the loop: the trip count is then known before
 * the loop. The counter may be in a register or in the stack frame. */
static bool is_counted(const struct as_verdict *v, const struct as_block *block)
{
    const uint32_t setter = flags_setter(v, block);
    struct as_effects effects;
    const struct as_insn *insn;

    if (setter == AS_NONE)
        return true; /* loop, jrcxz, or flags of another block: not known */
    insn = &v->program->code.insn[setter];
    if (insn->bits & AS_INSN_STACKMEM)
        return true;
    if (as_verdict_stream(v, setter))
        return false;
    as_insn_effects(insn, &effects);
    for (unsigned reg = AS_REG_GPR; reg < AS_REG_VEC; reg++)
        if (as_regset_has(effects.read, reg) && is_counted_reg(v, reg))
            return true;
    return false;
}

static bool leads_out(const struct as_verdict *v, const struct as_block *block)
{
    for (uint32_t i = 0; i < block->succs; i++) {
        const struct as_edge *edge = &v->program->succ[block->first_succ + i];

        if (edge->kind != AS_EDGE_LANDING && !is_within(v, edge->block))
            return true;
    }
    return false;
}

static int shows_exits(struct as_verdict *v, const struct as_block *block, uint32_t insn)
{
    return ends_in_branch(v, block, insn) && leads_out(v, block) ? as_verdict_shows(v, insn) : 0;
}

struct exits {
    int64_t n, uncounted_n;
};

static struct exits count_exits(const struct as_verdict *v)
{
    const struct as_loop *loop = &v->program->loop[v->loop];
    struct exits e = {0};

    for (uint32_t i = 0; i < loop->blocks; i++) {
        const struct as_block *block =
            &v->program->block[v->program->loop_block[loop->first_block + i]];

        if (block->loop != v->loop || !block->insns ||
            !ends_in_branch(v, block, block->first_insn + block->insns - 1) || !leads_out(v, block))
            continue;
        e.n++;
        e.uncounted_n += !is_counted(v, block);
    }
    return e;
}

static int flow_reasons(struct as_verdict *v)
{
    const struct as_loop *loop = &v->program->loop[v->loop];
    const struct exits exits = count_exits(v);

    AS_TRY(as_verdict_each(v, is_call));
    if (loop->paths > 1) {
        AS_TRY(as_verdict_reason(v, AS_VECTOR_WAYS, loop->paths));
        AS_TRY(as_verdict_each(v, shows_ways));
    }
    if (exits.n > 1 || exits.uncounted_n) {
        AS_TRY(as_verdict_reason(v, AS_VECTOR_EXITS, exits.n));
        AS_TRY(as_verdict_each(v, shows_exits));
    }
    return 0;
}

int as_verdict_flow(struct as_verdict *v, struct as_error *err)
{
    return flow_reasons(v) < 0 ? as_error_nomem(err, "the flow of a loop") : 0;
}
