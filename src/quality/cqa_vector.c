/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectorised variants of a path: a list with as many iterations as fit into vectors. Each
 * instruction gets its vector form (isa/packed.h), or copies if it has none. Elements that are not
 * contiguous are inserted one by one, or gathered; loop control stays single.
 *
 * The prediction omits values through memory and line crossings, because addresses step as for one
 * iteration. A recurrence keeps its cycles unless it is a reduction.
 */
#include <string.h>

#include "base/error.h"
#include "isa/packed.h"
#include "quality/cqa.h"

enum {
    LIST_MOST = 768, /* max instructions of a list; longer lists get fewer iterations */
    QUAD_B = 16,
    TEMPORARY = AS_REG_VEC + 31 /* and lower registers: written before they are read */
};

struct vectorising {
    struct as_cqa_engine *engine;
    const struct as_cqa_body *body;
    struct as_cqa_list *list;
    unsigned times;  /* iterations in the list */
    bool arithmetic; /* only arithmetic is vectorised; memory accesses stay scalar */
    bool gathers;    /* else elements are inserted one by one */
    uint32_t gathered_n, replicated_n, widened_n;
    bool refused; /* an instruction has no form */
};

/* ---- Parts --------------------------------------------------------------------------------- */

static void set_registers(struct as_insn *insn, unsigned result, unsigned first, unsigned second)
{
    for (unsigned i = 0; i < 4; i++)
        if (insn->reg[i] == AS_REG_VEC)
            insn->reg[i] = (uint8_t)result;
        else if (insn->reg[i] == AS_REG_VEC + 1)
            insn->reg[i] = (uint8_t)first;
        else if (insn->reg[i] == AS_REG_VEC + 2)
            insn->reg[i] = (uint8_t)second;
}

/* Sets the address of `item` in iteration `k`. If the stride is unknown, each iteration gets its
 * own cache line. */
static void set_address(struct as_insn *insn, const struct vectorising *v, size_t item, unsigned k)
{
    const struct as_insn *from = &v->body->code.insn[item];
    const struct as_cqa_item *of = &v->body->item[item];
    const bool known = of->stride <= AS_STRIDE_CONSTANT;

    insn->base = from->base;
    if (insn->index == AS_REG_NONE) { /* a gather has its own index */
        insn->index = from->index;
        insn->scale = from->scale;
    }
    insn->disp = from->disp + (int32_t)(k * (known ? of->stride_b : 64));
    insn->bits = (uint8_t)((insn->bits & ~AS_INSN_STACKMEM) | AS_INSN_MEM);
}

static void add_part(struct vectorising *v, enum as_part part, unsigned element_b, unsigned width_b,
                     const unsigned reg[3])
{
    struct as_insn insn;

    if (!as_insn_part(part, element_b, width_b, &insn)) {
        v->refused = true;
        return;
    }
    set_registers(&insn, reg[0], reg[1], reg[2]);
    as_cqa_list_add(v->list, &insn, false);
}

static void add_memory_part(struct vectorising *v, enum as_part part, unsigned element_b,
                            unsigned width_b, unsigned reg, size_t item, unsigned k)
{
    struct as_insn insn;

    if (!as_insn_part(part, element_b, width_b, &insn)) {
        v->refused = true;
        return;
    }
    set_registers(&insn, reg, reg, TEMPORARY);
    set_address(&insn, v, item, k);
    as_cqa_list_add(v->list, &insn, false);
}

/* Loads `size_b` bytes into `reg` by the accesses of iteration `k` and later ones. */
static void join_vector_parts(struct vectorising *v, size_t item, unsigned size_b, unsigned reg,
                              unsigned k)
{
    const unsigned own_b = v->body->item[item].width_b, whole_b = own_b > QUAD_B ? own_b : QUAD_B;

    if (size_b > whole_b) {
        const unsigned half[3] = {reg, reg, reg - 1};

        join_vector_parts(v, item, size_b / 2, reg, k);
        join_vector_parts(v, item, size_b / 2, reg - 1, k + size_b / 2 / own_b);
        add_part(v, AS_PART_JOIN, size_b / 2, size_b, half);
        return;
    }
    add_memory_part(v, AS_PART_FIRST, own_b, whole_b, reg, item, k);
    for (unsigned i = 1; i < size_b / own_b; i++)
        add_memory_part(v, AS_PART_NEXT, own_b, QUAD_B, reg, item, k + i);
}

static void split_memory_part(struct vectorising *v, size_t item, unsigned size_b, unsigned reg,
                              unsigned k)
{
    const unsigned own_b = v->body->item[item].width_b, whole_b = own_b > QUAD_B ? own_b : QUAD_B;

    if (size_b > whole_b) {
        const unsigned upper[3] = {TEMPORARY - 4, reg, reg};

        split_memory_part(v, item, size_b / 2, reg, k);
        add_part(v, AS_PART_SPLIT, size_b / 2, size_b, upper);
        split_memory_part(v, item, size_b / 2, TEMPORARY - 4, k + size_b / 2 / own_b);
        return;
    }
    add_memory_part(v, AS_PART_PUT_FIRST, own_b, whole_b, reg, item, k);
    for (unsigned i = 1; i < size_b / own_b; i++)
        add_memory_part(v, AS_PART_PUT_NEXT, own_b, QUAD_B, reg, item, k + i);
}

/* ---- Items --------------------------------------------------------------------------------- */

static bool is_integer(const struct as_cqa_item *item)
{
    return item->form->element == AS_ELEMENT_INT || !as_form_is_vector(item->form);
}

static unsigned native_of(const struct vectorising *v, const struct as_cqa_item *item)
{
    return is_integer(item) ? v->engine->native_int_b : v->engine->native_b;
}

/* Returns the number of vectors for `times` iterations of an item. */
static unsigned vectors_of(const struct vectorising *v, const struct as_cqa_item *item)
{
    const unsigned bytes = v->times * item->width_b, native = native_of(v, item);

    return bytes > native ? bytes / native : 1;
}

static void copy_item(struct vectorising *v, size_t at, unsigned times)
{
    for (unsigned k = 0; k < times; k++)
        as_cqa_list_add(v->list, &v->body->code.insn[at], v->body->item[at].leaves);
}

/* Adds `insn` in vector form as often as needed, or scalar copies if it has none. */
static void widen_item(struct vectorising *v, size_t at, const struct as_insn *insn)
{
    const struct as_cqa_item *item = &v->body->item[at];
    unsigned copies = vectors_of(v, item);
    struct as_insn wide = *insn;

    while (copies < v->times && !as_insn_packed(insn, v->times / copies, &wide))
        copies *= 2;
    v->widened_n += copies < v->times;
    for (unsigned k = 0; k < copies && k < v->times; k++)
        as_cqa_list_add(v->list, copies < v->times ? &wide : insn, item->leaves);
}

/* Adds vector sums for a lea that computes no address; scale and displacement take one sum each. */
static void widen_sum(struct vectorising *v, size_t at)
{
    const struct as_cqa_item *item = &v->body->item[at];
    const struct as_insn *insn = &v->body->code.insn[at];
    const unsigned vectors = vectors_of(v, item), to = insn->reg[0];
    const unsigned width_b =
        v->times * item->width_b / vectors < QUAD_B ? QUAD_B : v->times * item->width_b / vectors;
    const bool both = insn->base != AS_REG_NONE && insn->index != AS_REG_NONE;
    const unsigned from = insn->index != AS_REG_NONE ? insn->index : insn->base;
    const unsigned scaled = insn->scale > 1 && both ? TEMPORARY - 8 : to;

    v->widened_n++;
    for (unsigned k = 0; k < vectors; k++) {
        const unsigned shift[3] = {scaled, from, from}, constant[3] = {to, to, TEMPORARY};
        const unsigned sum[3] = {to, insn->base, insn->scale > 1 ? scaled : from};

        if (insn->scale > 1)
            add_part(v, AS_PART_ADD_INTEGERS, width_b, width_b, shift);
        if (both)
            add_part(v, AS_PART_ADD_INTEGERS, width_b, width_b, sum);
        if (insn->disp)
            add_part(v, AS_PART_ADD_INTEGERS, width_b, width_b, constant);
    }
}

/* Loads `reg`, or stores it, element by element and one vector at a time. */
static void replicate(struct vectorising *v, size_t at, unsigned reg)
{
    const struct as_cqa_item *item = &v->body->item[at];
    const unsigned vectors = vectors_of(v, item), bytes = v->times * item->width_b / vectors;
    const unsigned each = v->times / vectors;

    v->replicated_n++;
    for (unsigned k = 0; k < vectors; k++)
        if (item->stores)
            split_memory_part(v, at, bytes, reg, k * each);
        else
            join_vector_parts(v, at, bytes, reg, k * each);
}

static bool collect_elements(struct vectorising *v, size_t at, unsigned reg)
{
    const struct as_cqa_item *item = &v->body->item[at];
    const unsigned vectors = vectors_of(v, item), bytes = v->times * item->width_b / vectors;
    const enum as_part part = item->stores ? AS_PART_SCATTER : AS_PART_GATHER;
    const unsigned width_b = bytes < QUAD_B ? QUAD_B : bytes;
    struct as_insn probe;

    if (!as_insn_part(part, item->width_b, width_b, &probe))
        return false;
    v->gathered_n++;
    for (unsigned k = 0; k < vectors; k++)
        add_memory_part(v, part, item->width_b, width_b, reg, at, k);
    return true;
}

static unsigned data_register(const struct vectorising *v, size_t at)
{
    const struct as_cqa_item *item = &v->body->item[at];

    for (unsigned i = 0; i < item->form->operands; i++) {
        const struct as_operand *o = &item->form->operand[i];
        const unsigned reg =
            o->kind == AS_OPERAND_REG ? v->body->code.insn[at].reg[o->slot] : AS_REG_NONE;

        if (reg >= AS_REG_VEC && reg < AS_REG_VEC + 32)
            return reg;
    }
    return TEMPORARY - 5;
}

/* Adds an access that is not contiguous, or any access if memory stays scalar. */
static void widen_by_elements(struct vectorising *v, size_t at)
{
    const struct as_cqa_item *item = &v->body->item[at];
    const bool moves = item->form->insn_class == AS_CLASS_MOVE;
    const unsigned reg = moves ? data_register(v, at) : TEMPORARY - 6;
    struct as_insn insn;

    if (item->loads && item->stores) {
        copy_item(v, at, v->times);
        return;
    }
    if (!v->gathers || !collect_elements(v, at, reg))
        replicate(v, at, reg);
    if (moves)
        return;
    if (as_insn_registers(&v->body->code.insn[at], (uint8_t)reg, &insn))
        widen_item(v, at, &insn);
    else
        v->refused = true;
}

static bool by_elements(const struct vectorising *v, const struct as_cqa_item *item)
{
    if ((!item->loads && !item->stores) || item->stride == AS_STRIDE_ZERO || item->frame)
        return false;
    return v->arithmetic || item->stride != AS_STRIDE_UNIT;
}

static void add_address(struct vectorising *v, size_t at)
{
    const struct as_cqa_item *item = &v->body->item[at];
    const unsigned width_b = v->engine->native_int_b;
    const unsigned reg[3] = {TEMPORARY - 7, TEMPORARY - 7, TEMPORARY - 7};

    if (!item->after_load)
        copy_item(v, at, 1);
    else if (!v->gathers)
        copy_item(v, at, v->times);
    else if (item->loads)
        add_memory_part(v, AS_PART_LOAD, width_b, width_b, reg[0], at, 0);
    else
        add_part(v, AS_PART_ADD_INTEGERS, width_b, width_b, reg);
}

static void add_item(struct vectorising *v, size_t at)
{
    const struct as_cqa_item *item = &v->body->item[at];

    switch (item->role) {
    case AS_ROLE_CONTROL:
        copy_item(v, at, 1);
        return;
    case AS_ROLE_ADDRESS:
        add_address(v, at);
        return;
    case AS_ROLE_CALL:
        copy_item(v, at, v->times);
        return;
    default:
        break;
    }
    if (item->form->traits & AS_TRAIT_X87 || !item->width_b ||
        (item->role == AS_ROLE_DATA && v->arithmetic))
        copy_item(v, at, v->times);
    else if (item->form->insn_class == AS_CLASS_LEA)
        widen_sum(v, at);
    else if (item->stride == AS_STRIDE_ZERO && item->role == AS_ROLE_VECTOR &&
             (item->loads || item->stores))
        copy_item(v, at, 1); /* the same in every iteration */
    else if (by_elements(v, item) && as_form_is_vector(item->form))
        widen_by_elements(v, at);
    else if (by_elements(v, item))
        copy_item(v, at, v->times);
    else
        widen_item(v, at, &v->body->code.insn[at]);
}

/* ---- The list ------------------------------------------------------------------------------ */

static void make_list(struct vectorising *v)
{
    as_cqa_list_clear(v->list);
    v->refused = false;
    v->gathered_n = v->replicated_n = v->widened_n = 0;
    for (size_t i = 0; i < v->body->n && v->list->insn.n <= LIST_MOST; i++)
        add_item(v, i);
}

/* Returns the iterations that fill the vectors of the core, by the widest scalar and the narrowest
 * vector. Returns 1 if nothing can be vectorised. */
static unsigned iterations_of(const struct vectorising *v)
{
    unsigned scalar_b = 0, vector_b = 0, times = 1;
    bool integers = true;

    for (size_t i = 0; i < v->body->n; i++) {
        const struct as_cqa_item *item = &v->body->item[i];

        if (!item->packable || item->stride == AS_STRIDE_ZERO || !item->width_b ||
            (v->arithmetic && item->role != AS_ROLE_ARITHMETIC) ||
            item->form->traits & AS_TRAIT_X87)
            continue;
        integers &= is_integer(item);
        if (!item->packed && item->width_b > scalar_b)
            scalar_b = item->width_b;
        if (item->packed && (!vector_b || item->width_b < vector_b))
            vector_b = item->width_b;
    }
    const unsigned native = integers ? v->engine->native_int_b : v->engine->native_b;
    if (scalar_b && native / scalar_b > times)
        times = native / scalar_b;
    if (vector_b && native / vector_b > times)
        times = native / vector_b;
    return times;
}

static int try_list(struct vectorising *v, const struct as_cqa_as_is *as_is,
                    struct as_cqa_what_if *out, struct as_error *err)
{
    struct as_prediction found;
    const double chain =
        as_is->obstacles & AS_CQA_OBSTACLE_RECURRENCE ? as_is->bounds[AS_BOUND_LATENCY] : 0;

    make_list(v);
    if (v->list->failed)
        return as_error_nomem(err, "a variant of a loop");
    if (v->refused || !v->widened_n || v->list->insn.n > LIST_MOST)
        return 0;
    as_cqa_list_place(v->list, v->body->code.insn[0].address);
    AS_TRY(as_cqa_list_predict(v->engine, as_is->simulate, AS_WITHOUT_MEMORY | AS_WITHOUT_CROSSINGS,
                               &found, err));
    double cycles = found.cycles / v->times;
    if (chain > cycles) {
        cycles = chain;
        found.bound = AS_BOUND_LATENCY;
    }
    if (out->applies && cycles >= out->cycles)
        return 0;
    *out = (struct as_cqa_what_if){.applies = true,
                                   .cycles = cycles,
                                   .bound = found.bound,
                                   .insn_n = (uint32_t)v->list->insn.n,
                                   .iterations = v->times,
                                   .gathered_n = v->gathered_n,
                                   .replicated_n = v->replicated_n};
    if (found.bound == AS_BOUND_PORTS || found.bound == AS_BOUND_UNIT)
        memcpy(out->limit, found.limit, sizeof out->limit);
    return 0;
}

static bool has_elements(const struct vectorising *v)
{
    for (size_t i = 0; i < v->body->n; i++)
        if (by_elements(v, &v->body->item[i]) && as_form_is_vector(v->body->item[i].form))
            return true;
    return false;
}

int as_cqa_vectorise(struct as_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                     enum as_cqa_variant variant, struct as_cqa_what_if *out, struct as_error *err)
{
    struct vectorising v = {.engine = engine,
                            .body = as_is->body,
                            .list = &engine->list,
                            .arithmetic = variant == AS_CQA_FP_VECTOR};

    for (v.times = iterations_of(&v); v.times > 1 && !out->applies; v.times /= 2) {
        v.gathers = false;
        AS_TRY(try_list(&v, as_is, out, err));
        v.gathers = !v.arithmetic && has_elements(&v);
        if (v.gathers)
            AS_TRY(try_list(&v, as_is, out, err));
    }
    out->sound = out->applies && !(as_is->obstacles & AS_CQA_UNSOUND);
    return 0;
}
