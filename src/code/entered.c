/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the record size behind the address of an operand, at the edge that enters its inner loop.
 * An iteration of the outer loop may load an index and multiply it by the size of a record. Each
 * entry of the inner loop then walks through one record.
 */
#include <stdlib.h>

#include "base/error.h"
#include "code/scratch.h"

enum { INPUTS_DEPTH = 3 };

static bool has_load(const struct as_symbols *s, uint32_t atom, unsigned depth)
{
    const struct as_atom *a = &s->atom.at[atom];

    if (a->known)
        return false;
    if (a->kind == AS_ATOM_LOAD)
        return true;
    for (unsigned i = 0; i < a->inputs && a->kind == AS_ATOM_PURE && depth; i++) {
        const struct as_term *t = &s->term.at[a->input[i]];
        for (uint32_t k = 0; k < t->parts; k++)
            if (has_load(s, t->atom[k], depth - 1))
                return true;
    }
    return false;
}

/* Returns the largest factor of a loaded number in the value, or 0 if there is none. */
static int64_t loaded_factor(struct as_symbols *s, struct as_value value)
{
    const struct as_value whole = as_symbol_canonical(s, value);
    const struct as_term *t = &s->term.at[whole.term];
    int64_t factor = 0;

    for (uint32_t k = 0; k < t->parts && !s->failed; k++)
        if (has_load(s, t->atom[k], INPUTS_DEPTH) && llabs(t->factor[k]) > factor)
            factor = llabs(t->factor[k]);
    return factor;
}

/* Returns the view index of the header of `loop`, or AS_NONE if the view does not have it. */
static uint32_t header_of(const struct as_iteration_view *view, uint32_t loop)
{
    const struct as_iteration *it = view->iteration;

    for (uint32_t i = 0; i < view->n; i++)
        if (it->block[view->node[i]] == it->program->loop[loop].header)
            return i;
    return AS_NONE;
}

/* Returns the largest factor of a register over all edges that enter at `header`. */
static int64_t factor_at(struct as_evaluation *e, uint32_t header, uint8_t reg)
{
    const struct as_iteration_view *view = e->steps->view;
    int64_t factor = 0;

    if (reg >= AS_GPRS)
        return 0;
    for (uint32_t k = 0; k < as_iteration_view_preds(view, header); k++) {
        const uint32_t pred = as_iteration_view_pred(view, header, k);
        const int64_t one =
            pred == AS_NONE ? 0
                            : loaded_factor(&e->symbols, e->out[(size_t)pred * e->locations + reg]);
        factor = one > factor ? one : factor;
    }
    return factor;
}

static int find_factor(struct as_scratch *scratch, const struct as_program *program, uint32_t loop,
                       const struct as_memory *memory, int64_t *factor)
{
    struct as_iteration_view view;
    struct as_steps steps;
    struct as_evaluation *e = &scratch->evaluation;
    struct as_arena *arena = &scratch->arena;
    const struct as_iteration *it =
        as_scratch_iteration(scratch, program, program->loop[loop].parent);

    if (!it)
        return AS_ERR_NOMEM;
    AS_TRY(as_iteration_view_make(it, AS_ITERATION_ALL, NULL, 0, arena, &view));
    const uint32_t header = header_of(&view, loop);
    if (header == AS_NONE)
        return 0;
    AS_TRY(as_steps_make(&view, arena, &steps));
    AS_TRY(as_evaluate(e, &steps, arena));
    const int64_t base = factor_at(e, header, memory->base);
    const int64_t index = memory->scale * factor_at(e, header, memory->index);
    *factor = base > index ? base : index;
    return e->symbols.failed ? AS_ERR_NOMEM : 0;
}

int as_loop_record_size(const struct as_program *program, uint32_t loop,
                        const struct as_memory_stream *stream, int64_t *size_b,
                        struct as_error *err)
{
    struct as_memory memory[2];

    *size_b = 0;
    if (program->loop[loop].parent == AS_NONE ||
        as_insn_memory(&program->code, &program->code.insn[stream->insn], memory) <=
            stream->operand)
        return 0;
    struct as_scratch *scratch = as_scratch_acquire(program);
    const int rc = scratch ? find_factor(scratch, program, loop, &memory[stream->operand], size_b)
                           : AS_ERR_NOMEM;
    as_scratch_release(program, scratch);
    return rc < 0 ? as_error_nomem(err, "the entries of a loop") : 0;
}
