/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the steps of operands in outer loops: the distance of the first address of an inner-loop
 * entry from one outer iteration to the next. The address is a sum of locations at the start of the
 * inner loop. Each location has a value at the edge that enters the inner loop. This value is a sum
 * of locations at the start of the next outer loop, and so on outwards.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "code/scratch.h"

enum { PARTS_MOST = 8, OUTER_DEPTH = 4 };

/* A location of an evaluation: a general register or a slot of the frame. */
struct outer_part {
    int64_t factor;
    int32_t disp; /* displacement of a slot */
    uint8_t reg;  /* general register, or AS_GPRS for a slot */
    bool linear;  /* factor times the location; otherwise an unknown function of the location */
};

struct address {
    struct outer_part part[PARTS_MOST];
    unsigned n;
    bool known;
};

static bool add_part(const struct as_evaluation *e, uint8_t location, int64_t factor, bool linear,
                     struct address *out)
{
    struct outer_part one = {.factor = factor, .reg = location, .linear = linear};

    if (location >= AS_GPRS) {
        one.reg = AS_GPRS;
        one.disp = e->slot[location - AS_GPRS].disp;
    }
    for (unsigned i = 0; i < out->n; i++) {
        struct outer_part *part = &out->part[i];
        if (part->reg != one.reg || part->disp != one.disp || part->linear != linear)
            continue;
        part->factor += factor;
        return true;
    }
    if (out->n == PARTS_MOST)
        return false;
    out->part[out->n++] = one;
    return true;
}

/* Adds the locations that a value depends on. Returns false if it has other parts, which may
 * change. */
static bool add_value(const struct as_evaluation *e, uint32_t term, int64_t factor, bool linear,
                      unsigned depth, struct address *out)
{
    const struct as_term *t = &e->symbols.term.at[term];
    bool known = depth > 0;

    for (uint32_t i = 0; i < t->parts && known; i++) {
        const struct as_atom *atom = &e->symbols.atom.at[t->atom[i]];
        const int64_t times = linear ? as_symbol_times(factor, t->factor[i]) : 0;
        if (atom->kind == AS_ATOM_LIVE)
            known = add_part(e, atom->location, times, linear, out);
        else if (atom->kind != AS_ATOM_FIXED) {
            known = atom->kind == AS_ATOM_PURE || atom->kind == AS_ATOM_BITS;
            for (unsigned k = 0; k < atom->inputs && known; k++)
                known = add_value(e, atom->input[k], 0, false, depth - 1, out);
        }
    }
    return known;
}

static struct address address_of(const struct as_evaluation *e, struct as_value value)
{
    struct address out = {.known = true};

    out.known = add_value(e, value.term, 1, true, OUTER_DEPTH, &out);
    return out;
}

struct outer_work {
    const struct as_program *program;
    struct as_scratch *scratch;
    struct as_iteration_view view;
    struct as_steps steps;
};

static int evaluate_loop(struct outer_work *w, uint32_t loop)
{
    const struct as_iteration *it = as_scratch_iteration(w->scratch, w->program, loop);
    struct as_arena *arena = &w->scratch->arena;

    if (!it)
        return AS_ERR_NOMEM;
    AS_TRY(as_iteration_view_make(it, AS_ITERATION_ALL, NULL, 0, arena, &w->view));
    AS_TRY(as_steps_make(&w->view, arena, &w->steps));
    AS_TRY(as_evaluate(&w->scratch->evaluation, &w->steps, arena));
    return 0;
}

/* Returns the view index of the header of `loop`, or AS_NONE if the view does not have it. */
static uint32_t entry_of(const struct outer_work *w, uint32_t loop)
{
    const struct as_iteration_view *view = &w->view;

    for (uint32_t i = 0; i < view->n; i++)
        if (view->iteration->block[view->node[i]] == w->program->loop[loop].header)
            return i;
    return AS_NONE;
}

/* Returns the location of a part in this evaluation, or UINT8_MAX if there is none. */
static uint8_t location_of(const struct as_evaluation *e, const struct outer_part *part)
{
    const struct as_memory slot = {
        .base = e->frame, .index = AS_REG_NONE, .segment = AS_REG_NONE, .disp = part->disp};

    return part->reg < AS_GPRS ? part->reg : as_frame_location(e, &slot);
}

/* Replaces `at` by a sum of locations at the start of this loop. The values come from one edge that
 * enters the inner loop. Sets `out` to the step of the address. */
static void pass_edge(struct as_evaluation *e, uint32_t pred, struct address *at,
                      struct as_outer_step *out)
{
    struct as_value sum = as_symbol_constant(0);
    struct address next = {.known = true};
    int64_t step = 0, one;

    *out = (struct as_outer_step){.kind = AS_OUTER_UNKNOWN};
    for (unsigned i = 0; i < at->n && next.known; i++) {
        const uint8_t location = location_of(e, &at->part[i]);
        if (location >= e->locations) {
            next.known = false;
            break;
        }
        const struct as_value value =
            as_symbol_canonical(&e->symbols, e->out[(size_t)pred * e->locations + location]);
        if (at->part[i].linear) {
            sum = as_symbol_add(&e->symbols, sum, value, at->part[i].factor);
            continue;
        }
        next.known = as_symbol_step(&e->symbols, value.term, &one) && one == 0 &&
                     add_value(e, value.term, 0, false, OUTER_DEPTH, &next);
    }
    if (!next.known || e->symbols.failed) {
        at->known = false;
        return;
    }
    if (as_symbol_step(&e->symbols, sum.term, &step))
        *out = (struct as_outer_step){step, step ? AS_OUTER_STEP : AS_OUTER_SAME};
    else if (as_symbol_steady(&e->symbols, sum.term))
        out->kind = AS_OUTER_STEADY;
    next.known = add_value(e, sum.term, 1, true, OUTER_DEPTH, &next);
    *at = next;
}

/* Handles all edges that enter the inner loop. The step is unknown unless all edges agree. */
static void pass_entry(struct as_evaluation *e, uint32_t entry, struct address *at,
                       struct as_outer_step *out)
{
    const struct as_iteration_view *view = e->steps->view;
    const struct address before = *at;

    *out = (struct as_outer_step){.kind = AS_OUTER_UNKNOWN};
    for (uint32_t k = 0; k < as_iteration_view_preds(view, entry) && at->known; k++) {
        struct address one = before;
        struct as_outer_step step;
        pass_edge(e, as_iteration_view_pred(view, entry, k), &one, &step);
        if (k && (step.kind != out->kind || step.step_b != out->step_b)) {
            out->kind = AS_OUTER_UNKNOWN;
            at->known = false;
            return;
        }
        *out = step;
        *at = one;
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static int find_addresses(struct outer_work *w, uint32_t loop, const struct as_streams *streams,
                          struct address *at)
{
    const struct as_evaluation *e = &w->scratch->evaluation;

    AS_TRY(evaluate_loop(w, loop));
    for (size_t s = 0; s < streams->n; s++)
        for (size_t i = 0; i < e->access.n; i++)
            if (w->steps.insn[e->access.at[i].at] == streams->at[s].insn &&
                e->access.at[i].operand == streams->at[s].operand)
                at[s] = address_of(e, e->access.at[i].address);
    return 0;
}

static int find_outer_steps(struct outer_work *w, uint32_t loop, const struct as_streams *streams,
                            struct address *at, struct as_outer_step *out)
{
    uint32_t outer = w->program->loop[loop].parent;

    AS_TRY(find_addresses(w, loop, streams, at));
    for (unsigned k = 0; k < AS_OUTER_MOST && outer != AS_NONE; k++) {
        AS_TRY(evaluate_loop(w, outer));
        const uint32_t entry = entry_of(w, loop);
        for (size_t s = 0; s < streams->n && entry != AS_NONE; s++)
            if (at[s].known)
                pass_entry(&w->scratch->evaluation, entry, &at[s], &out[s * AS_OUTER_MOST + k]);
        if (w->scratch->evaluation.symbols.failed)
            return AS_ERR_NOMEM;
        loop = outer;
        outer = w->program->loop[outer].parent;
    }
    return 0;
}

int as_loop_outer_steps(const struct as_program *program, uint32_t loop,
                        const struct as_streams *streams, struct as_outer_step *out,
                        struct as_error *err)
{
    struct outer_work w = {.program = program};
    struct address *at = as_calloc(streams->n + 1, sizeof *at);

    for (size_t i = 0; i < streams->n * AS_OUTER_MOST; i++)
        out[i] = (struct as_outer_step){.kind = AS_OUTER_UNKNOWN};
    w.scratch = at ? as_scratch_acquire(program) : NULL;
    const int rc = w.scratch ? find_outer_steps(&w, loop, streams, at, out) : AS_ERR_NOMEM;
    if (at)
        as_scratch_release(program, w.scratch);
    as_free(at);
    return rc < 0 ? as_error_nomem(err, "the loops around a loop") : 0;
}
