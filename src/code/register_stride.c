/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds strides that the code does not contain as constants: sums of registers that the loop never
 * writes. The leading dimension of a matrix is an example: code before the loop loads it. A sample
 * anywhere in the loop has the value of such a register.
 */
#include "code/register_stride.h"

bool as_register_stays(const struct as_evaluation *e, unsigned reg)
{
    for (uint32_t step = 0; step < e->steps->n; step++)
        if (as_regset_has(e->steps->effects[step].written, reg))
            return false;
    return true;
}

static bool add_register(struct as_register_stride *out, unsigned reg, int64_t factor)
{
    unsigned at = 0;
    while (at < out->n && out->reg[at] != reg)
        at++;
    if (at == AS_HELD_MOST)
        return false;
    if (at == out->n) {
        out->reg[out->n++] = (uint8_t)reg;
        out->factor[at] = 0;
    }
    out->factor[at] = (int64_t)((uint64_t)out->factor[at] + (uint64_t)factor);
    return true;
}

/* Adds `factor` times a value that never changes. Returns false if registers do
 * not hold all of it. */
static bool add_fixed(const struct as_evaluation *e, struct as_value value, int64_t factor,
                      struct as_register_stride *out)
{
    const struct as_term *t = &e->symbols.term.at[value.term];
    out->constant_b += as_symbol_times(value.constant, factor);
    for (uint32_t i = 0; i < t->parts; i++) {
        const struct as_atom *atom = &e->symbols.atom.at[t->atom[i]];
        if (atom->kind != AS_ATOM_LIVE || !atom->known || atom->step != 0 ||
            atom->location >= AS_GPRS || !as_register_stays(e, atom->location) ||
            !add_register(out, atom->location, as_symbol_times(t->factor[i], factor)))
            return false;
    }
    return true;
}

/* Adds `factor` times the change of a location per iteration. Returns false as add_fixed(). */
static bool add_location(struct as_evaluation *e, unsigned location, int64_t factor,
                         struct as_register_stride *out)
{
    const struct as_value by = as_symbol_add(&e->symbols, e->end[location], e->live[location], -1);
    return !e->symbols.failed && add_fixed(e, by, factor, out);
}

/* Adds the step of a product with one fixed factor and one that steps by a constant. Returns false
 * if the product is another one, or as add_fixed(). */
static bool add_product(const struct as_evaluation *e, const struct as_atom *atom, int64_t factor,
                        struct as_register_stride *out)
{
    int64_t step[2];
    for (unsigned i = 0; i < 2; i++)
        if (!as_symbol_step(&e->symbols, atom->input[i], &step[i]))
            return false;
    const unsigned fixed = step[0] == 0 ? 0 : 1;
    const struct as_value value = {.term = atom->input[fixed]};
    return add_fixed(e, value, as_symbol_times(factor, step[!fixed]), out);
}

bool as_register_stride_find(struct as_evaluation *e, const struct as_access *access,
                             struct as_register_stride *out)
{
    *out = (struct as_register_stride){0};
    if (!access->steady)
        return false;
    const struct as_term t = e->symbols.term.at[access->address.term];
    bool held = true;
    for (uint32_t i = 0; i < t.parts && held; i++) {
        const struct as_atom atom = e->symbols.atom.at[t.atom[i]];
        if (atom.known)
            out->constant_b += as_symbol_times(atom.step, t.factor[i]);
        else if (atom.kind == AS_ATOM_LIVE)
            held = atom.steady && add_location(e, atom.location, t.factor[i], out);
        else
            held = atom.steady && atom.product && atom.plain && atom.inputs == 2 &&
                   add_product(e, &atom, t.factor[i], out);
    }
    if (!held || !out->n)
        *out = (struct as_register_stride){0};
    return out->n > 0;
}

/* ---- Bases ----------------------------------------------------------------------------------- */

/* Sets `step` to the step of the address without one unknown part with factor 1. Returns false if
 * the number of unknown parts is not one. */
static bool step_of_rest(const struct as_evaluation *e, const struct as_access *access,
                         int64_t *step)
{
    const struct as_term *t = &e->symbols.term.at[access->address.term];
    unsigned unknown = 0;
    *step = 0;
    for (uint32_t i = 0; i < t->parts; i++) {
        const struct as_atom *atom = &e->symbols.atom.at[t->atom[i]];
        if (atom->known)
            *step += as_symbol_times(atom->step, t->factor[i]);
        else if (t->factor[i] != 1 || unknown++)
            return false;
    }
    return unknown == 1;
}

static unsigned writes_of(const struct as_evaluation *e, unsigned reg)
{
    unsigned writes = 0;
    for (uint32_t i = 0; i < e->steps->n; i++)
        writes += as_regset_has(e->steps->effects[i].written, reg);
    return writes;
}

/* Returns true if the register steps by a constant with at most one write per iteration. */
static bool is_counter(const struct as_evaluation *e, unsigned reg)
{
    int64_t step;
    return reg < AS_GPRS && writes_of(e, reg) <= 1 && as_evaluate_step(e, reg, &step);
}

/* Returns the register of the address that holds its unknown part, or AS_REG_NONE. */
static unsigned unknown_register(const struct as_evaluation *e, const struct as_memory *memory)
{
    const bool has_index = memory->index != AS_REG_NONE;
    if (memory->base == AS_REG_NONE || memory->base == AS_REG_SP)
        return AS_REG_NONE;
    if (!has_index || memory->scale > 1 || is_counter(e, memory->index))
        return memory->base;
    return is_counter(e, memory->base) ? memory->index : AS_REG_NONE;
}

static uint32_t block_of_step(const struct as_iteration_view *view, uint32_t step)
{
    uint32_t block = 0;
    while (step >= view->start[block + 1])
        block++;
    return block;
}

static bool writes_any(const struct as_evaluation *e, uint32_t step, const uint8_t *reg, unsigned n)
{
    bool any = false;
    for (unsigned i = 0; i < n; i++)
        any |= reg[i] < AS_GPRS && as_regset_has(e->steps->effects[step].written, reg[i]);
    return any;
}

/* Finds the first and the last step in the block of `at` between which nothing changes the
 * registers. Sets their addresses. */
static void window_of(const struct as_evaluation *e, uint32_t at, const uint8_t *reg, unsigned n,
                      uint64_t *first_address, uint64_t *last_address)
{
    const struct as_iteration_view *view = e->steps->view;
    const uint32_t block = block_of_step(view, at);
    uint32_t first = at, last = at;
    while (first > view->start[block] && !writes_any(e, first - 1, reg, n))
        first--;
    while (last + 1 < view->start[block + 1] && !writes_any(e, last, reg, n))
        last++;
    *first_address = as_step_insn(e->steps, first)->address;
    *last_address = as_step_insn(e->steps, last)->address;
}

void as_register_stride_window(const struct as_evaluation *e, const struct as_access *access,
                               uint64_t *first, uint64_t *last)
{
    const uint8_t reg[2] = {access->memory.base, access->memory.index};
    window_of(e, access->at, reg, 2, first, last);
}

bool as_register_stride_nearby(const struct as_evaluation *e, const struct as_access *access)
{
    const uint8_t reg[2] = {access->memory.base, access->memory.index};
    unsigned writes = 0;
    for (unsigned i = 0; i < 2; i++)
        writes += reg[i] < AS_GPRS ? writes_of(e, reg[i]) : 0;
    return writes <= 1 && !access->gathered && !access->frame;
}

bool as_based_find(const struct as_evaluation *e, const struct as_access *access,
                   struct as_based_stride *out)
{
    const uint8_t reg = (uint8_t)unknown_register(e, &access->memory);
    *out = (struct as_based_stride){.reg = AS_REG_NONE};
    if (access->known || access->gathered || access->frame || reg >= AS_GPRS ||
        !step_of_rest(e, access, &out->stride_b))
        return false;
    window_of(e, access->at, &reg, 1, &out->first, &out->last);
    out->reg = reg;
    return true;
}
