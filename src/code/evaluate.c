/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes one iteration symbolically, block by block in the order of the view. A location gets a
 * new atom in two cases: merging paths disagree, or an inner loop begins that writes the location.
 * Steps are found afterwards by comparing each location at the end with its start.
 */
#include "code/evaluate.h"

#include <string.h>

#include "base/error.h"

/* ---- Inner loops ------------------------------------------------------------------------- */

/* Builds a tree over the nodes. Entry n + u has the locations that node u writes. Entry i has the
 * union of entries 2i and 2i + 1. */
static int make_writes(struct as_evaluation *e)
{
    const struct as_iteration *it = e->steps->view->iteration;
    if (!it->has_inner)
        return 0;
    e->writes = as_arena_array(e->arena, uint64_t, 2 * (size_t)it->nodes);
    if (!e->writes)
        return AS_ERR_NOMEM;
    for (uint32_t u = 0; u < it->nodes; u++) {
        const struct as_block *b = &it->program->block[it->block[u]];
        for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++)
            e->writes[it->nodes + u] |= as_frame_writes(e, &it->program->code.insn[i], NULL);
    }
    for (uint32_t i = it->nodes - 1; i > 0; i--)
        e->writes[i] = e->writes[2 * i] | e->writes[2 * i + 1];
    return 0;
}

static uint64_t writes_between(const struct as_evaluation *e, uint32_t first, uint32_t last)
{
    uint32_t n = e->steps->view->iteration->nodes;
    uint64_t writes = 0;
    for (uint32_t low = first + n, high = last + n + 1; low < high; low /= 2, high /= 2) {
        if (low & 1)
            writes |= e->writes[low++];
        if (high & 1)
            writes |= e->writes[--high];
    }
    return writes;
}

/* Returns the locations that may have changed if control reaches the node from inside its own
 * cycle. */
static uint64_t changed_inside(const struct as_evaluation *e, uint32_t node)
{
    const struct as_iteration *it = e->steps->view->iteration;
    uint32_t loop = it->program->block[it->block[node]].loop;
    if (!e->writes)
        return 0;
    if (loop != AS_NONE && loop != it->loop && it->program->loop[loop].bits & AS_LOOP_IRREDUCIBLE)
        return writes_between(e, 0, it->nodes - 1); /* an irreducible loop may begin anywhere */
    return it->retreat[node] == AS_NONE ? 0 : writes_between(e, node, it->retreat[node]);
}

/* ---- Walk -------------------------------------------------------------------------------- */

/* Gives a new atom to each location that differs. `met` has the locations that already have one. */
static void merge_symbol_values(struct as_evaluation *e, struct as_value *into,
                                const struct as_value *from, uint64_t *met)
{
    for (uint32_t i = 0; i < e->locations; i++) {
        if (*met >> i & 1 || as_symbol_equal(into[i], from[i]))
            continue;
        into[i] = as_symbol_atom(&e->symbols, AS_ATOM_VARYING);
        *met |= (uint64_t)1 << i;
    }
}

static void enter_block(struct as_evaluation *e, uint32_t block)
{
    const struct as_iteration_view *view = e->steps->view;
    uint32_t preds = as_iteration_view_preds(view, block);
    const struct as_value *first = e->live;
    uint64_t met = 0;
    if (preds)
        first = e->out + (size_t)as_iteration_view_pred(view, block, 0) * e->locations;
    memcpy(e->now, first, e->locations * sizeof *e->now);
    for (uint32_t k = 1; k < preds; k++)
        merge_symbol_values(e, e->now,
                            e->out + (size_t)as_iteration_view_pred(view, block, k) * e->locations,
                            &met);
    for (uint64_t left = changed_inside(e, view->node[block]); left; left &= left - 1) {
        unsigned location = (unsigned)__builtin_ctzll(left);
        if (location < e->locations)
            e->now[location] = as_symbol_atom(&e->symbols, AS_ATOM_VARYING);
    }
}

static void walk(struct as_evaluation *e)
{
    const struct as_iteration_view *view = e->steps->view;
    bool ended = false;
    uint64_t met = 0;
    for (uint32_t i = 0; i < view->n && !e->symbols.failed; i++) {
        enter_block(e, i);
        for (uint32_t step = view->start[i]; step < view->start[i + 1]; step++)
            as_compute(e, step);
        memcpy(e->out + (size_t)i * e->locations, e->now, e->locations * sizeof *e->now);
        if (!as_iteration_view_ends(view, i))
            continue;
        if (ended)
            merge_symbol_values(e, e->end, e->now, &met);
        else
            memcpy(e->end, e->now, e->locations * sizeof *e->now);
        ended = true;
    }
}

/* ---- Steps ------------------------------------------------------------------------------- */

static struct as_atom *live_atom(const struct as_evaluation *e, unsigned location)
{
    return &e->symbols.atom.at[e->symbols.term.at[e->live[location].term].atom[0]];
}

/* Finds the step of one location. Returns true if the step became known by this call. */
static bool find_step(struct as_evaluation *e, unsigned location)
{
    struct as_symbols *s = &e->symbols;
    int64_t step;
    if (live_atom(e, location)->known)
        return false;
    struct as_value end = as_symbol_canonical(s, e->end[location]);
    if (end.term == e->live[location].term) {
        struct as_atom *atom = live_atom(e, location);
        atom->step = end.constant;
        atom->known = true;
        return true;
    }
    if (s->failed || !as_symbol_step(s, end.term, &step))
        return false;
    /* The location ends as a value that changes by `step`. So it began as this value one step
     * earlier. */
    end.constant = (int64_t)((uint64_t)end.constant - (uint64_t)step);
    struct as_atom *atom = live_atom(e, location);
    atom->alias = end;
    atom->aliased = true;
    atom->step = step;
    atom->known = true;
    return true;
}

static void find_steps(struct as_evaluation *e)
{
    for (bool more = true; more && !e->symbols.failed;) {
        more = false;
        as_symbol_settle(&e->symbols, !e->stores);
        for (unsigned i = 0; i < e->locations && !e->symbols.failed; i++)
            more |= find_step(e, i);
    }
}

/* Marks locations as steady if their change per iteration never changes. */
static void find_steady(struct as_evaluation *e)
{
    struct as_symbols *s = &e->symbols;
    for (unsigned i = 0; i < e->locations && !s->failed; i++) {
        int64_t step;
        struct as_value by = as_symbol_add(s, e->end[i], e->live[i], -1);
        struct as_atom *atom = live_atom(e, i);
        atom->steady = !atom->known && as_symbol_step(s, by.term, &step) && step == 0;
    }
    as_symbol_settle(s, !e->stores);
}

/* Returns true if the address has the atom as a part with factor 1. */
static bool has_atom(const struct as_symbols *s, struct as_value address, uint32_t atom)
{
    const struct as_term *t = &s->term.at[address.term];
    for (uint32_t k = 0; k < t->parts; k++) {
        if (t->factor[k] == 1 && t->atom[k] == atom)
            return true;
    }
    return false;
}

/* Returns true if the address has a part that points into the frame. */
static bool in_frame(const struct as_evaluation *e, const struct as_access *a, uint32_t sp_atom)
{
    const struct as_symbols *s = &e->symbols;
    uint32_t bp_atom = s->term.at[e->live[AS_REG_BP].term].atom[0];
    if (has_atom(s, a->address, sp_atom) || (e->bp_is_frame && has_atom(s, a->address, bp_atom)))
        return true;
    return a->memory.stack || a->location != UINT8_MAX;
}

static void finish_accesses(struct as_evaluation *e)
{
    struct as_symbols *s = &e->symbols;
    struct as_value sp = as_symbol_canonical(s, e->live[AS_REG_SP]);
    uint32_t image_atom = s->failed ? UINT32_MAX : s->term.at[e->image.term].atom[0];
    uint32_t sp_atom = s->failed || !sp.term ? UINT32_MAX : s->term.at[sp.term].atom[0];
    as_vec_foreach (&e->access, a) {
        a->address = as_symbol_canonical(s, a->address);
        if (s->failed)
            return;
        a->known = !a->gathered && as_symbol_step(s, a->address.term, &a->step);
        a->steady = !a->known && !a->gathered && as_symbol_steady(s, a->address.term);
        a->image = has_atom(s, a->address, image_atom);
        a->frame = in_frame(e, a, sp_atom);
    }
}

bool as_evaluate_step(const struct as_evaluation *e, unsigned location, int64_t *step)
{
    const struct as_atom *atom = live_atom(e, location);
    *step = atom->step;
    return atom->known;
}

static void start_values(struct as_evaluation *e)
{
    for (uint32_t i = 0; i < e->locations; i++) {
        e->live[i] = as_symbol_atom(&e->symbols, AS_ATOM_LIVE);
        if (!e->symbols.failed)
            live_atom(e, i)->location = (uint8_t)i;
    }
    e->image = as_symbol_atom(&e->symbols, AS_ATOM_FIXED);
    e->segment[0] = as_symbol_atom(&e->symbols, AS_ATOM_FIXED);
    e->segment[1] = as_symbol_atom(&e->symbols, AS_ATOM_FIXED);
    memcpy(e->end, e->live, sizeof e->end);
}

int as_evaluate(struct as_evaluation *e, const struct as_steps *steps, struct as_arena *arena)
{
    struct as_symbols symbols = e->symbols;
    as_access_vec access = e->access;
    access.n = 0;
    *e = (struct as_evaluation){
        .steps = steps, .arena = arena, .symbols = symbols, .access = access};
    as_symbols_start(&e->symbols);
    AS_TRY(as_frame_find(e));
    AS_TRY(make_writes(e));
    e->out = as_arena_array(arena, struct as_value, (size_t)e->locations * steps->view->n + 1);
    e->now = as_arena_array(arena, struct as_value, e->locations);
    if (!e->out || !e->now)
        return AS_ERR_NOMEM;
    start_values(e);
    walk(e);
    find_steps(e);
    find_steady(e);
    finish_accesses(e);
    return e->symbols.failed ? AS_ERR_NOMEM : 0;
}

void as_evaluate_fini(struct as_evaluation *e)
{
    as_vec_fini(&e->access);
    as_symbols_fini(&e->symbols);
}

/* ---- Origin ------------------------------------------------------------------------------ */

/* Registers and slots with values that depend on data loaded in the loop. */
struct loaded {
    struct as_regset reg;
    uint64_t location; /* slots */
};

/* Updates `l` by one step. `*at` is the index of the next access. */
static void pass_step(struct as_evaluation *e, uint32_t step, size_t *at, struct loaded *l)
{
    const struct as_effects *f = &e->steps->effects[step];
    const struct as_insn *insn = as_step_insn(e->steps, step);
    bool call = as_form_of(insn)->insn_class == AS_CLASS_CALL;
    const uint64_t sp = (uint64_t)1 << AS_REG_SP;
    bool any = ((f->read.word[0] & l->reg.word[0] & ~sp) | (f->read.word[1] & l->reg.word[1])) &&
               !(insn->bits & AS_INSN_IDIOM);
    uint64_t stored = 0;
    for (; *at < e->access.n && e->access.at[*at].at == step; ++*at) {
        struct as_access *a = &e->access.at[*at];
        unsigned base = a->memory.base, index = a->memory.index;
        a->indirect = a->gathered || (base != AS_REG_SP && as_regset_has(l->reg, base)) ||
                      as_regset_has(l->reg, index);
        if (a->memory.access & AS_ACCESS_READ)
            any |= a->location == UINT8_MAX || l->location >> a->location & 1;
        if (a->memory.access & AS_ACCESS_WRITE && a->location != UINT8_MAX)
            stored |= (uint64_t)1 << a->location;
    }
    any &= !call;
    for (unsigned w = 0; w < 2; w++)
        l->reg.word[w] =
            any ? l->reg.word[w] | f->written.word[w] : l->reg.word[w] & ~f->written.word[w];
    l->location = any ? l->location | stored : l->location & ~stored;
}

int as_evaluate_origin(struct as_evaluation *e)
{
    const struct as_iteration_view *view = e->steps->view;
    struct loaded *out = as_arena_array(e->arena, struct loaded, view->n);
    struct loaded start = {{{0, 0}}, 0};
    if (!out)
        return AS_ERR_NOMEM;
    /* Sets only grow from round to round. The second round mostly has all carried values. */
    for (bool more = true; more;) {
        size_t at = 0;
        struct loaded end = start;
        for (uint32_t i = 0; i < view->n; i++) {
            struct loaded l =
                as_iteration_view_preds(view, i) ? (struct loaded){{{0, 0}}, 0} : start;
            for (uint32_t k = 0; k < as_iteration_view_preds(view, i); k++) {
                const struct loaded *from = &out[as_iteration_view_pred(view, i, k)];
                l.reg.word[0] |= from->reg.word[0];
                l.reg.word[1] |= from->reg.word[1];
                l.location |= from->location;
            }
            for (uint32_t step = view->start[i]; step < view->start[i + 1]; step++)
                pass_step(e, step, &at, &l);
            out[i] = l;
            if (as_iteration_view_ends(view, i)) {
                end.reg.word[0] |= l.reg.word[0];
                end.reg.word[1] |= l.reg.word[1];
                end.location |= l.location;
            }
        }
        more = memcmp(&end, &start, sizeof end) != 0;
        start = end;
    }
    return 0;
}
