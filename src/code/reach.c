/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds reaching definitions. A number stands for a set of writers: either the one instruction in
 * the set, or a list in the pool. Sets have one element in straight code. A join makes a new list
 * only if it differs from both inputs. The iteration has no cycle, so one walk finds all sets. A
 * second walk then knows the sets at the end of the iteration and lists the writers of each read.
 */
#include "code/reach.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"

/* ---- Sets -------------------------------------------------------------------------------- */

/* Returns the elements of a set and sets `*n` to their number. For a set of one element they are
 * `set` itself. */
static const uint32_t *elements(const struct as_reach *r, const uint32_t *set, uint32_t *n)
{
    if (*set <= r->exposed) {
        *n = 1;
        return set;
    }
    const uint32_t *list = r->pool.at + (*set - r->exposed - 1);
    *n = list[0];
    return list + 1;
}

static bool same(const uint32_t *a, uint32_t an, const uint32_t *b, uint32_t bn)
{
    return an == bn && memcmp(a, b, an * sizeof *a) == 0;
}

/* Writes the union of both ascending lists to `to`, which has the capacity for both. Returns its
 * size. */
static uint32_t unite(const uint32_t *a, uint32_t an, const uint32_t *b, uint32_t bn, uint32_t *to)
{
    uint32_t n = 0, i = 0, k = 0;
    while (i < an || k < bn) {
        uint32_t x = i < an ? a[i] : UINT32_MAX;
        uint32_t y = k < bn ? b[k] : UINT32_MAX;
        to[n++] = x < y ? x : y;
        i += x <= y;
        k += y <= x;
    }
    return n;
}

static int join(struct as_reach *r, uint32_t *into, uint32_t set)
{
    uint32_t merged[2 * (AS_WRITERS_MOST + 1)];
    uint32_t an, bn;
    assert(*into != set && "nothing to join");
    const uint32_t *a = elements(r, into, &an);
    const uint32_t *b = elements(r, &set, &bn);
    uint32_t n = unite(a, an, b, bn, merged);
    assert(n && "no set is empty");
    const uint32_t *from = merged;
    /* Keeps the last writers and, if present, the element for "not written yet". */
    uint32_t most = AS_WRITERS_MOST + (merged[n - 1] == r->exposed);
    if (n > most) {
        r->limited = true;
        from += n - most;
        n = most;
    }
    if (same(from, n, a, an))
        return 0;
    if (same(from, n, b, bn)) {
        *into = set;
        return 0;
    }
    if (r->pool.n + n >= UINT32_MAX - r->exposed)
        return AS_ERR_NOMEM;
    uint32_t made = r->exposed + 1 + (uint32_t)r->pool.n;
    AS_TRY(as_vec_reserve(&r->pool, r->pool.n + n + 1));
    r->pool.at[r->pool.n++] = n;
    memcpy(r->pool.at + r->pool.n, from, n * sizeof *from);
    r->pool.n += n;
    *into = made;
    return 0;
}

/* ---- Walk -------------------------------------------------------------------------------- */

static void write_all(struct as_reach *r, const struct as_effects *e, uint32_t step)
{
    for (unsigned w = 0; w < 2; w++) {
        for (uint64_t left = e->written.word[w]; left; left &= left - 1) {
            unsigned reg = w * 64 + (unsigned)__builtin_ctzll(left);
            if (reg != AS_REG_IP)
                r->now[r->dense[reg]] = step;
        }
    }
    for (unsigned left = e->flags_written; left; left &= left - 1)
        r->now[r->dense[AS_REG_COUNT + __builtin_ctz(left)]] = step;
}

static void number_things(struct as_reach *r)
{
    struct as_regset written = {{0, 0}};
    unsigned flags = 0;
    for (uint32_t i = 0; i < r->steps->n; i++) {
        written.word[0] |= r->steps->effects[i].written.word[0];
        written.word[1] |= r->steps->effects[i].written.word[1];
        flags |= r->steps->effects[i].flags_written;
    }
    written.word[AS_REG_IP / 64] &= ~((uint64_t)1 << AS_REG_IP % 64);
    memset(r->dense, UINT8_MAX, sizeof r->dense);
    for (unsigned w = 0; w < 2; w++) {
        for (uint64_t left = written.word[w]; left; left &= left - 1)
            r->dense[w * 64 + (unsigned)__builtin_ctzll(left)] = (uint8_t)r->things++;
    }
    for (unsigned left = flags; left; left &= left - 1)
        r->dense[AS_REG_COUNT + __builtin_ctz(left)] = (uint8_t)r->things++;
}

int as_reach_enter(struct as_reach *r, uint32_t block)
{
    const struct as_iteration_view *view = r->steps->view;
    uint32_t preds = as_iteration_view_preds(view, block);
    if (r->walked) {
        if (r->in)
            memcpy(r->now, r->in + (size_t)block * r->things, r->things * sizeof *r->now);
        return 0;
    }
    if (!preds) {
        for (uint32_t i = 0; i < r->things; i++)
            r->now[i] = r->exposed;
        return 0;
    }
    memcpy(r->now, r->out + (size_t)as_iteration_view_pred(view, block, 0) * r->things,
           r->things * sizeof *r->now);
    for (uint32_t k = 1; k < preds; k++) {
        const uint32_t *from = r->out + (size_t)as_iteration_view_pred(view, block, k) * r->things;
        for (uint32_t i = 0; i < r->things; i++) {
            if (r->now[i] != from[i])
                AS_TRY(join(r, &r->now[i], from[i]));
        }
    }
    return 0;
}

static int walk_once(struct as_reach *r)
{
    const struct as_iteration_view *view = r->steps->view;
    bool ended = false;
    for (uint32_t i = 0; i < view->n; i++) {
        AS_TRY(as_reach_enter(r, i));
        if (r->in)
            memcpy(r->in + (size_t)i * r->things, r->now, r->things * sizeof *r->now);
        for (uint32_t step = view->start[i]; step < view->start[i + 1]; step++)
            write_all(r, &r->steps->effects[step], step);
        memcpy(r->out + (size_t)i * r->things, r->now, r->things * sizeof *r->now);
        if (!as_iteration_view_ends(view, i))
            continue;
        for (uint32_t k = 0; k < r->things && ended; k++)
            AS_TRY(r->carried[k] != r->now[k] ? join(r, &r->carried[k], r->now[k]) : 0);
        if (!ended)
            memcpy(r->carried, r->now, r->things * sizeof *r->now);
        ended = true;
    }
    r->walked = r->in != NULL;
    return 0;
}

int as_reach_start(struct as_reach *r, const struct as_steps *steps, struct as_arena *arena)
{
    as_set_pool pool = r->pool;
    pool.n = 0;
    *r = (struct as_reach){.steps = steps, .arena = arena, .exposed = steps->n, .pool = pool};
    number_things(r);
    const bool meets = !steps->view->chain && steps->view->n > 1;
    const size_t sets = (size_t)r->things * steps->view->n;
    uint32_t *all =
        as_arena_fresh(arena, uint32_t, 2 * (size_t)r->things + (meets ? 2 : 1) * sets + 1);
    if (!all)
        return AS_ERR_NOMEM;
    r->now = all;
    r->carried = all + r->things;
    r->out = all + 2 * (size_t)r->things;
    r->in = meets ? r->out + sets : NULL;
    for (uint32_t i = 0; i < r->things; i++)
        r->carried[i] = r->exposed;
    return walk_once(r);
}

void as_reach_fini(struct as_reach *r)
{
    as_vec_fini(&r->pool);
}

/* ---- Reads ------------------------------------------------------------------------------- */

struct register_read {
    struct as_reach *r;
    as_dependence_vec *out;
    size_t first; /* index in `out` of the first dependence of this instruction */
    uint32_t to;
    uint8_t kind, what, bits;
};

/* Adds a dependence. Several flags of one writer make one dependence. */
static int add(struct register_read *g, uint32_t from, uint16_t distance, uint8_t bits)
{
    for (size_t i = g->first; g->kind == AS_DEPENDENCE_FLAGS && i < g->out->n; i++) {
        struct as_dependence *d = &g->out->at[i];
        if (d->kind == g->kind && d->from == from && d->distance == distance) {
            /* MERGE means "only merges": the bit remains only if it holds for all flags. */
            d->bits = (uint8_t)((d->bits | bits) & ~AS_DEPENDENCE_MERGE) |
                      (d->bits & bits & AS_DEPENDENCE_MERGE);
            d->what |= g->what;
            return 0;
        }
    }
    return as_vec_push(g->out, (struct as_dependence){.from = from,
                                                      .to = g->to,
                                                      .distance = distance,
                                                      .kind = g->kind,
                                                      .what = g->what,
                                                      .bits = bits});
}

/* Returns true if the instruction may keep the old value, because a condition guards its write. */
static bool writes_maybe(const struct as_reach *r, uint32_t step, const struct register_read *g)
{
    const struct as_insn *insn = as_step_insn(r->steps, step);
    const struct as_form *form = as_form_of(insn);
    if (g->kind == AS_DEPENDENCE_FLAGS)
        return form->flags_maybe & g->what;
    if (!as_regset_has(r->steps->effects[step].merged, g->what))
        return false; /* a value that may remain is merged */
    for (unsigned i = 0; i < form->operands; i++) {
        const struct as_operand *o = &form->operand[i];
        if (o->kind == AS_OPERAND_REG && o->access & AS_ACCESS_MAYBE &&
            insn->reg[o->slot] == g->what)
            return true;
    }
    return false;
}

static int name_writers(struct register_read *g, unsigned thing)
{
    struct as_reach *r = g->r;
    uint32_t n, carried_n = 0;
    if (r->dense[thing] == UINT8_MAX)
        return 0; /* live into the loop only */
    const uint32_t *set = &r->now[r->dense[thing]];
    const uint32_t *carried = &r->carried[r->dense[thing]];
    const uint32_t only = *set == r->exposed ? *carried : *set;
    if (only < r->exposed) { /* one writer, in this iteration or the one before: the usual case */
        const uint8_t maybe = writes_maybe(r, only, g) ? AS_DEPENDENCE_MAYBE : 0;
        return add(g, only, *set == r->exposed, g->bits | maybe);
    }
    set = elements(r, set, &n);
    if (set[n - 1] == r->exposed)
        carried = elements(r, carried, &carried_n);
    bool skipped = carried_n && carried[carried_n - 1] == r->exposed;
    n -= carried_n > 0;
    carried_n -= skipped;
    bool maybe = skipped || n + carried_n > 1;
    for (uint32_t i = 0; i < n + carried_n; i++) {
        uint32_t from = i < n ? set[i] : carried[i - n];
        bool again = false;
        for (uint32_t k = 0; i >= n && k < n; k++)
            again |= set[k] == from;
        uint8_t bits = g->bits;
        if (maybe || writes_maybe(r, from, g))
            bits |= AS_DEPENDENCE_MAYBE;
        if (!again)
            AS_TRY(add(g, from, i >= n, bits));
    }
    return 0;
}

/*
 * Returns true if an instruction that writes part of a register reads it only to keep the rest. The
 * tables describe legacy conversions and square roots as reading their destination, but the result
 * does not depend on it.
 */
static bool only_merges(const struct as_insn *insn, const struct as_form *form, unsigned reg)
{
    if (insn->bits & AS_INSN_MEM && (insn->base == reg || insn->index == reg))
        return false;
    if (as_regset_has(form->implicit_read, reg) || insn->mask == reg)
        return false;
    bool converts = form->insn_class == AS_CLASS_CONVERT || form->insn_class == AS_CLASS_SQRT;
    for (unsigned i = 0; i < form->operands; i++) {
        const struct as_operand *o = &form->operand[i];
        if (o->kind != AS_OPERAND_REG || insn->reg[o->slot] != reg)
            continue;
        bool keeps = o->access & AS_ACCESS_MERGE && !(o->access & AS_ACCESS_MAYBE) &&
                     (!(o->access & AS_ACCESS_READ) || (converts && i == 0));
        if (!keeps)
            return false;
    }
    return true;
}

/* Returns true if the instruction reads the register only to form the address of a
 * memory access. */
static bool only_addresses(const struct as_insn *insn, const struct as_form *form, unsigned reg)
{
    bool address = false;
    if (as_regset_has(form->implicit_read, reg) || insn->mask == reg)
        return false;
    for (unsigned i = 0; i < form->operands; i++) {
        const struct as_operand *o = &form->operand[i];
        if (o->kind == AS_OPERAND_MEM)
            address |= insn->base == reg || insn->index == reg || insn->segment == reg;
        else if (o->kind == AS_OPERAND_REG && insn->reg[o->slot] == reg &&
                 o->access != AS_ACCESS_WRITE)
            return false;
    }
    return address;
}

static uint8_t read_bits(const struct as_insn *insn, const struct as_effects *e, unsigned reg)
{
    const struct as_form *form = as_form_of(insn);
    uint8_t bits = 0;
    if (as_regset_has(e->merged, reg) && only_merges(insn, form, reg))
        bits |= AS_DEPENDENCE_MERGE;
    if (insn->bits & AS_INSN_MEM && only_addresses(insn, form, reg))
        bits |= AS_DEPENDENCE_ADDRESS;
    return bits;
}

int as_reach_step(struct as_reach *r, uint32_t step, as_dependence_vec *out)
{
    const struct as_effects *e = &r->steps->effects[step];
    const struct as_insn *insn = as_step_insn(r->steps, step);
    struct register_read g = {.r = r, .out = out, .first = out->n, .to = step};
    g.kind = AS_DEPENDENCE_REGISTER;
    for (unsigned w = 0; w < 2; w++) {
        for (uint64_t left = e->read.word[w]; left; left &= left - 1) {
            unsigned reg = w * 64 + (unsigned)__builtin_ctzll(left);
            if (reg == AS_REG_IP || r->dense[reg] == UINT8_MAX)
                continue;
            g.what = (uint8_t)reg;
            g.bits = read_bits(insn, e, reg);
            AS_TRY(name_writers(&g, reg));
        }
    }
    g.kind = AS_DEPENDENCE_FLAGS;
    /* A flag that may keep its value counts as read, like a register that is written in part. */
    for (unsigned left = e->flags_read | e->flags_maybe; left; left &= left - 1) {
        g.what = (uint8_t)(left & -left);
        g.bits = e->flags_read & g.what ? 0 : AS_DEPENDENCE_MERGE;
        AS_TRY(name_writers(&g, AS_REG_COUNT + (unsigned)__builtin_ctz(left)));
    }
    write_all(r, e, step);
    return 0;
}
