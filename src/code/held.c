/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strides that the code does not name, as sums of registers that the loop never writes. The
 * leading dimension of a matrix is one: the code loads it before the loop. A sample anywhere in the
 * loop has the value of such a register.
 */
#include "code/held.h"

/* True when no instruction of the loop, or of a loop inside it, writes the register. */
static bool stays(const struct as_evaluation *e, unsigned reg)
{
    for (uint32_t step = 0; step < e->steps->n; step++)
        if (assay_regset_has(e->steps->effects[step].written, reg))
            return false;
    return true;
}

static int64_t by_factor(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static bool add_register(struct assay_held_stride *out, unsigned reg, int64_t factor)
{
    unsigned at = 0;
    while (at < out->n && out->reg[at] != reg)
        at++;
    if (at == ASSAY_HELD_MOST)
        return false;
    if (at == out->n) {
        out->reg[out->n++] = (uint8_t)reg;
        out->factor[at] = 0;
    }
    out->factor[at] = (int64_t)((uint64_t)out->factor[at] + (uint64_t)factor);
    return true;
}

/* Adds `factor` times a value that never changes. False: registers do not hold all of it. */
static bool add_fixed(const struct as_evaluation *e, struct as_value value, int64_t factor,
                      struct assay_held_stride *out)
{
    const struct as_term *t = &e->symbols.term.at[value.term];
    out->constant_b += by_factor(value.constant, factor);
    for (uint32_t i = 0; i < t->parts; i++) {
        const struct as_atom *atom = &e->symbols.atom.at[t->atom[i]];
        if (atom->kind != AS_ATOM_LIVE || !atom->known || atom->step != 0 ||
            atom->location >= AS_GPRS || !stays(e, atom->location) ||
            !add_register(out, atom->location, by_factor(t->factor[i], factor)))
            return false;
    }
    return true;
}

/* Adds the change of a location within an iteration. */
static bool add_location(struct as_evaluation *e, unsigned location, int64_t factor,
                         struct assay_held_stride *out)
{
    const struct as_value by = as_symbol_add(&e->symbols, e->end[location], e->live[location], -1);
    return !e->symbols.failed && add_fixed(e, by, factor, out);
}

/* Adds the step of a product: one factor never changes, the other steps by a constant. */
static bool add_product(const struct as_evaluation *e, const struct as_atom *atom, int64_t factor,
                        struct assay_held_stride *out)
{
    int64_t step[2];
    for (unsigned i = 0; i < 2; i++)
        if (!as_symbol_step(&e->symbols, atom->input[i], &step[i]))
            return false;
    const unsigned fixed = step[0] == 0 ? 0 : 1;
    const struct as_value value = {.term = atom->input[fixed]};
    return add_fixed(e, value, by_factor(factor, step[!fixed]), out);
}

bool as_held_find(struct as_evaluation *e, const struct as_access *access,
                  struct assay_held_stride *out)
{
    *out = (struct assay_held_stride){0};
    if (!access->steady)
        return false;
    const struct as_term t = e->symbols.term.at[access->address.term];
    bool held = true;
    for (uint32_t i = 0; i < t.parts && held; i++) {
        const struct as_atom atom = e->symbols.atom.at[t.atom[i]];
        if (atom.known)
            out->constant_b += by_factor(atom.step, t.factor[i]);
        else if (atom.kind == AS_ATOM_LIVE)
            held = atom.steady && add_location(e, atom.location, t.factor[i], out);
        else
            held = atom.steady && atom.product && atom.plain && atom.inputs == 2 &&
                   add_product(e, &atom, t.factor[i], out);
    }
    if (!held || !out->n)
        *out = (struct assay_held_stride){0};
    return out->n > 0;
}
