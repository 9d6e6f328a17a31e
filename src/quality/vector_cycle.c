/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles of loop-carried dependences: values that a loop must compute one after the other. A cycle
 * is a strongly connected component of the dependences. Counters are excluded, because they do not
 * hinder vectorisation.
 */
#include "base/error.h"
#include "isa/packed.h"
#include "quality/components.h"
#include "quality/vector_verdict.h"

/* Iterations from which a memory dependence does not count: 8 single-precision values fill 256
 * bits. */
#define DISTANCE_MOST 8

struct cycles {
    struct as_verdict *v;
    const struct as_dependences *found;
    struct as_components component;
};

/* ---- Edges --------------------------------------------------------------------------------- */

static bool counts_up(const struct as_verdict *v, unsigned reg)
{
    for (size_t i = 0; i < v->streams.induction_n; i++)
        if (v->streams.induction[i].reg == reg)
            return true;
    return false;
}

static bool carries(const void *context, const struct as_dependence *d)
{
    const struct as_verdict *v = context;

    if (d->bits & AS_DEPENDENCE_MERGE)
        return false;
    if (d->kind == AS_DEPENDENCE_MEMORY)
        return d->distance < DISTANCE_MOST;
    if (d->kind != AS_DEPENDENCE_REGISTER)
        return d->distance == 0;
    if (d->what == AS_REG_GPR + 4 || d->what >= AS_REG_X87)
        return false; /* the stack pointer, and state registers that many instructions access */
    return d->distance == 0 || !counts_up(v, d->what);
}

/* ---- Components ---------------------------------------------------------------------------- */

struct component {
    uint32_t insn_n;
    int64_t distance;   /* min distance of its loop-carried edges; 0: not a cycle */
    unsigned operation; /* class of all its arithmetic; AS_CLASS_COUNT: several */
    bool fed, used;     /* has inputs from, or uses in, the rest of the loop */
    bool counter;       /* only sums of general registers */
    bool packed, x87, memory;
    bool leads; /* one of its values is an address in it: a linked list */
};

static const struct as_form *form_of_node(const struct cycles *c, uint32_t node)
{
    return as_form_get(c->v->program->code.insn[c->found->insn[node]].form);
}

static bool is_counting(const struct as_form *form)
{
    switch (form->insn_class) {
    case AS_CLASS_ADD:
    case AS_CLASS_LEA:
    case AS_CLASS_MOVE:
    case AS_CLASS_EXTEND:
        return !form->vector_b && !(form->traits & AS_TRAIT_X87);
    default:
        return false;
    }
}

static unsigned operation_of(const struct as_form *form)
{
    switch (form->insn_class) {
    case AS_CLASS_MOVE:
    case AS_CLASS_EXTEND:
        return AS_CLASS_MOVE;
    case AS_CLASS_FMA:
    case AS_CLASS_ADD:
        return AS_CLASS_ADD;
    case AS_CLASS_MUL:
    case AS_CLASS_MINMAX:
    case AS_CLASS_LOGIC:
        return form->insn_class;
    default:
        return AS_CLASS_COUNT;
    }
}

static void add_node_to_component(const struct cycles *c, uint32_t node, struct component *it)
{
    const struct as_form *form = form_of_node(c, node);
    const uint32_t insn = c->found->insn[node];
    const struct as_memory_stream *stream = as_verdict_stream(c->v, insn);
    const unsigned operation = operation_of(form);

    if (it->insn_n++ == 0)
        *it = (struct component){.insn_n = 1, .operation = AS_CLASS_MOVE, .counter = true};
    if (operation != AS_CLASS_MOVE && it->operation == AS_CLASS_MOVE)
        it->operation = operation;
    else if (operation != AS_CLASS_MOVE && operation != it->operation)
        it->operation = AS_CLASS_COUNT;
    it->counter &= is_counting(form) && !stream;
    it->packed |= as_insn_lanes(&c->v->program->code.insn[insn], stream) == AS_LANES_MANY;
    it->x87 |= (form->traits & AS_TRAIT_X87) != 0;
}

/* Returns true if the value is a factor of an FMA, so that the chain is not a sum. */
static bool is_factor(const struct cycles *c, const struct as_dependence *d)
{
    const struct as_insn *insn = &c->v->program->code.insn[c->found->insn[d->to]];
    const struct as_form *form = as_form_get(insn->form);
    const int at = as_form_addend(form);
    const struct as_operand *addend = at < 0 ? NULL : &form->operand[at];

    return form->insn_class == AS_CLASS_FMA && d->kind == AS_DEPENDENCE_REGISTER &&
           !(addend && addend->kind == AS_OPERAND_REG && insn->reg[addend->slot] == d->what);
}

static void add_edges_to_components(const struct cycles *c, struct component *all)
{
    for (size_t i = 0; i < c->found->n; i++) {
        const struct as_dependence *d = &c->found->at[i];
        struct component *from = &all[c->component.of[d->from]], *to = &all[c->component.of[d->to]];

        if (!carries(c->v, d))
            continue;
        if (from != to) {
            from->used = to->fed = true;
            continue;
        }
        if (d->distance && (!from->distance || d->distance < from->distance))
            from->distance = d->distance;
        if (is_factor(c, d))
            from->operation = AS_CLASS_COUNT;
        from->leads |= (d->bits & AS_DEPENDENCE_ADDRESS) != 0;
        from->memory |= d->kind == AS_DEPENDENCE_MEMORY;
    }
}

static bool matters(const struct component *it)
{
    /* Only moves without an input keep a value, for example around a call. */
    const bool kept = it->operation == AS_CLASS_MOVE && !it->fed && !it->leads;

    return it->distance && !it->packed && !it->x87 && !kept && !(it->counter && !it->fed);
}

/* ---- Reasons ------------------------------------------------------------------------------- */

static bool is_shown(const struct as_verdict *v, uint32_t insn)
{
    for (size_t i = 0; i < v->reason.n; i++) {
        const struct as_vector_reason *at = &v->reason.at[i];

        for (uint32_t k = 0; k < at->n; k++)
            if ((at->obstacle == AS_VECTOR_CHAIN || at->obstacle == AS_VECTOR_REDUCTION) &&
                v->insn.at[at->first + k] == insn)
                return true;
    }
    return false;
}

static int show_component(struct cycles *c, uint32_t number, const struct component *it,
                          uint32_t node)
{
    const bool collects = !it->used && !it->memory && it->operation != AS_CLASS_COUNT &&
                          it->operation != AS_CLASS_MOVE;

    if (is_shown(c->v, c->found->insn[node]))
        return 0; /* found on another path through the loop */
    AS_TRY(as_verdict_reason(c->v, collects ? AS_VECTOR_REDUCTION : AS_VECTOR_CHAIN, it->distance));
    for (uint32_t k = node; k < c->found->insn_n; k++)
        if (c->component.of[k] == number)
            AS_TRY(as_verdict_shows(c->v, c->found->insn[k]));
    return 0;
}

static int show_components(struct cycles *c, struct component *all)
{
    for (uint32_t node = 0; node < c->found->insn_n; node++)
        add_node_to_component(c, node, &all[c->component.of[node]]);
    add_edges_to_components(c, all);
    for (uint32_t node = 0; node < c->found->insn_n; node++) {
        struct component *it = &all[c->component.of[node]];

        if (!matters(it))
            continue;
        AS_TRY(show_component(c, c->component.of[node], it, node));
        it->distance = 0; /* already reported */
    }
    return 0;
}

static int find_cycles(struct cycles *c)
{
    struct component *all = NULL;
    int rc = AS_ERR_NOMEM;

    AS_TRY(as_components_find(c->found, carries, c->v, &c->component));
    all = as_calloc(c->component.n + 1, sizeof *all);
    if (all)
        rc = show_components(c, all);
    as_free(all);
    as_free(c->component.of);
    return rc;
}

static int cycles_of_path(struct as_verdict *v, const struct as_paths *paths, size_t path,
                          struct as_error *err)
{
    struct as_dependences found;
    struct cycles c = {.v = v, .found = &found};
    int rc;

    AS_TRY(as_loop_dependences(v->program, v->loop, paths, path, &found, err));
    rc = found.n ? find_cycles(&c) : 0;
    as_dependences_free(&found);
    return rc < 0 ? as_error_nomem(err, "the cycles of a loop") : 0;
}

int as_verdict_cycles(struct as_verdict *v, struct as_error *err)
{
    struct as_paths paths;
    int rc;

    AS_TRY(as_loop_paths(v->program, v->loop, AS_PATH_LIMIT, &paths, err));
    rc = 0;
    for (size_t i = 0; i < paths.path_n && rc == 0; i++)
        rc = cycles_of_path(v, &paths, i, err);
    as_paths_free(&paths);
    return rc;
}
