/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the memory streams of a loop: the step per iteration of each memory operand's address.
 * Operands with related addresses form an array.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "code/counters.h"
#include "code/register_stride.h"
#include "code/scratch.h"

enum { GAP_B = 64 };

/* A memory operand before it becomes a stream. */
struct operand {
    const struct as_access *access;
    uint32_t insn;
    uint32_t term;   /* term that the operands of an array share */
    uint32_t symbol; /* absolute address: symbol that holds it, or AS_NONE */
    uint32_t group;
    uint32_t index; /* index in the order of the instructions */
    bool absolute;
};

struct stream_work {
    const struct as_program *program;
    uint32_t loop;
    const struct as_iteration *iteration;
    struct as_iteration_view view;
    struct as_steps steps;
    struct as_evaluation *e;
    struct as_arena *arena;
    struct operand *operand;
    uint32_t operands;
    struct group *group;
    uint32_t groups;
};

/* Operands of one array. */
struct group {
    int64_t first; /* lowest constant of the addresses */
    uint32_t number;
    bool numbered, frame, covered;
};

/* ---- Arrays ------------------------------------------------------------------------------ */

/* Returns true if the address is in a file with fixed addresses; its code may hold such addresses
 * as displacements. */
static bool in_image(const struct as_object *object, uint64_t address)
{
    const struct as_section *section;
    if (!object || as_object_info(object)->type != AS_OBJECT_EXECUTABLE)
        return false;
    size_t n = as_object_sections(object, &section);
    for (size_t i = 0; i < n; i++) {
        if (section[i].alloc && section[i].address &&
            address - section[i].address < section[i].size_b)
            return true;
    }
    return false;
}

/* Returns the part of an address that is the same in all iterations. Returns the whole term if
 * there is none. */
static uint32_t fixed_part(struct as_symbols *s, uint32_t term)
{
    struct as_term t = s->term.at[term];
    struct as_value sum = as_symbol_constant(0);
    for (uint32_t i = 0; i < t.parts; i++) {
        const struct as_atom *atom = &s->atom.at[t.atom[i]];
        if (!atom->known || atom->step != 0)
            continue;
        struct as_value one = {.term = as_symbol_term(s, t.atom[i])};
        sum = as_symbol_add(s, sum, one, t.factor[i]);
    }
    return sum.term ? sum.term : term;
}

static void describe(struct stream_work *w, const struct as_access *a, struct operand *o)
{
    struct as_object *object = w->program->object;
    uint64_t constant = (uint64_t)a->address.constant;
    o->access = a;
    o->insn = w->steps.insn[a->at];
    o->term = a->known ? a->address.term : fixed_part(&w->e->symbols, a->address.term);
    o->symbol = AS_NONE;
    o->absolute = a->image || !a->address.term || in_image(object, constant);
    if (o->absolute && object)
        o->symbol = as_object_data_symbol(object, constant);
}

static int compare_operands(const void *a, const void *b)
{
    const struct operand *x = a, *y = b;
    if (x->insn != y->insn)
        return x->insn < y->insn ? -1 : 1;
    return x->access->operand < y->access->operand ? -1 : x->access->operand > y->access->operand;
}

static int compare_arrays(const void *a, const void *b)
{
    const struct operand *x = a, *y = b;
    if (x->term != y->term)
        return x->term < y->term ? -1 : 1;
    if (x->access->known != y->access->known)
        return x->access->known ? -1 : 1;
    if (x->absolute != y->absolute)
        return x->absolute ? 1 : -1;
    if (x->access->address.constant != y->access->address.constant)
        return x->access->address.constant < y->access->address.constant ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Returns true if the operands belong to one array. Absolute addresses must be in one symbol, or
 * close to each other if they have no symbol. */
static bool same_array(const struct operand *a, const struct operand *b)
{
    if (a->term != b->term || a->access->known != b->access->known || a->absolute != b->absolute)
        return false;
    if (!a->absolute)
        return true;
    if (a->symbol != AS_NONE || b->symbol != AS_NONE)
        return a->symbol == b->symbol;
    uint64_t gap = (uint64_t)b->access->address.constant - (uint64_t)a->access->address.constant;
    uint64_t step = a->access->known ? (uint64_t)llabs(a->access->step) : 0;
    return gap <= a->access->memory.width_b + GAP_B + step;
}

/* Sorts unless the operands are in order already. Blocks mostly have the order of their
 * instructions. */
static void sort_operands(struct stream_work *w, int (*compare)(const void *, const void *))
{
    uint32_t i = 1;
    while (i < w->operands && compare(&w->operand[i - 1], &w->operand[i]) <= 0)
        i++;
    if (i < w->operands)
        qsort(w->operand, w->operands, sizeof *w->operand, compare);
}

static int list_operands(struct stream_work *w)
{
    const struct as_iteration_view *view = &w->view;
    w->operand = as_arena_array(w->arena, struct operand, w->e->access.n + 1);
    if (!w->operand)
        return AS_ERR_NOMEM;
    uint32_t block = 0;
    for (size_t i = 0; i < w->e->access.n; i++) {
        const struct as_access *a = &w->e->access.at[i];
        while (a->at >= view->start[block + 1])
            block++;
        if (as_iteration_view_block(view, block)->loop == w->loop)
            describe(w, a, &w->operand[w->operands++]);
    }
    sort_operands(w, compare_operands);
    for (uint32_t i = 0; i < w->operands; i++)
        w->operand[i].index = i;
    return w->e->symbols.failed ? AS_ERR_NOMEM : 0;
}

/* ---- Holes ------------------------------------------------------------------------------- */

struct byte_piece {
    uint64_t from, to;
};

static int compare_pieces(const void *a, const void *b)
{
    const struct byte_piece *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* Returns true if operands [first, end) of one array touch every byte of the step,
 * modulo the step. */
static bool covers(const struct operand *first, const struct operand *end, struct byte_piece *piece)
{
    if (!first->access->known || !first->access->step || first->access->step == INT64_MIN)
        return false;
    uint64_t step = (uint64_t)llabs(first->access->step);
    size_t n = 0;
    for (const struct operand *o = first; o < end; o++) {
        uint64_t width = o->access->memory.width_b;
        int64_t off = o->access->address.constant % (int64_t)step;
        uint64_t from = (uint64_t)(off < 0 ? off + (int64_t)step : off);
        if (width >= step)
            return true;
        piece[n++] = (struct byte_piece){from, from + width};
        if (from + width > step)
            piece[n++] = (struct byte_piece){0, from + width - step};
    }
    qsort(piece, n, sizeof *piece, compare_pieces);
    uint64_t covered = 0;
    for (size_t i = 0; i < n && piece[i].from <= covered; i++)
        covered = piece[i].to > covered ? piece[i].to : covered;
    return covered >= step;
}

static int make_groups(struct stream_work *w)
{
    struct byte_piece *piece =
        as_arena_array(w->arena, struct byte_piece, 2 * (size_t)w->operands + 1);
    w->group = as_arena_array(w->arena, struct group, w->operands + 1u);
    if (!piece || !w->group)
        return AS_ERR_NOMEM;
    sort_operands(w, compare_arrays);
    for (uint32_t i = 0, end; i < w->operands; i = end) {
        struct group *g = &w->group[w->groups];
        g->first = w->operand[i].access->address.constant;
        for (end = i; end < w->operands; end++) {
            if (end > i && !same_array(&w->operand[end - 1], &w->operand[end]))
                break;
            w->operand[end].group = w->groups;
            g->frame |= w->operand[end].access->frame;
        }
        g->covered = covers(&w->operand[i], &w->operand[end], piece);
        w->groups++;
    }
    sort_operands(w, compare_operands);
    return 0;
}

/* Numbers the arrays in the order of the instructions, those of the frame last. Returns the number
 * of arrays outside of the frame. */
static uint32_t number_groups(struct stream_work *w)
{
    uint32_t number = 0, arrays = 0;
    for (unsigned frame = 0; frame < 2; frame++) {
        for (uint32_t i = 0; i < w->operands; i++) {
            struct group *g = &w->group[w->operand[i].group];
            if (g->numbered || g->frame != (frame == 1))
                continue;
            g->numbered = true;
            g->number = number++;
        }
        arrays = frame ? arrays : number;
    }
    return arrays;
}

/* ---- Result ------------------------------------------------------------------------------ */

static void fill_stream(const struct stream_work *w, const struct operand *o,
                        struct as_memory_stream *out)
{
    const struct as_access *a = o->access;
    const struct group *g = &w->group[o->group];
    *out = (struct as_memory_stream){
        .insn = o->insn,
        .array = g->number,
        .offset_b = (int64_t)((uint64_t)a->address.constant - (uint64_t)g->first),
        .width_b = a->memory.width_b,
        .element_b = a->memory.element_b,
        .operand = a->operand,
        .access = a->memory.access,
        .stack = g->frame,
        .based = {.reg = AS_REG_NONE}};
    if (a->known) {
        out->stride_b = a->step;
        out->stride = a->step == 0 ? AS_STRIDE_ZERO
                      : g->covered ? AS_STRIDE_UNIT
                                   : AS_STRIDE_CONSTANT;
    } else {
        out->stride = a->indirect && !a->steady ? AS_STRIDE_INDIRECT : AS_STRIDE_UNKNOWN;
        out->steady = a->steady;
        if (!as_register_stride_find(w->e, a, &out->register_stride))
            as_based_find(w->e, a, &out->based);
    }
    as_register_stride_window(w->e, a, &out->first, &out->last);
    out->nearby = (a->known ? a->step != 0 : out->register_stride.n > 0) &&
                  as_register_stride_nearby(w->e, a);
}

static int fill_streams(struct stream_work *w, struct as_streams *out)
{
    out->at = as_calloc(w->operands + 1u, sizeof *out->at);
    if (!out->at)
        return AS_ERR_NOMEM;
    out->arrays = number_groups(w);
    for (uint32_t i = 0; i < w->operands; i++)
        fill_stream(w, &w->operand[i], &out->at[out->n++]);
    return 0;
}

/* ---- Interface --------------------------------------------------------------------------- */

static int find_streams(struct stream_work *w, struct as_streams *out)
{
    AS_TRY(as_iteration_view_make(w->iteration, AS_ITERATION_ALL, NULL, 0, w->arena, &w->view));
    AS_TRY(as_steps_make(&w->view, w->arena, &w->steps));
    AS_TRY(as_evaluate(w->e, &w->steps, w->arena));
    bool known = true;
    for (size_t i = 0; i < w->e->access.n; i++)
        known &= w->e->access.at[i].known;
    if (!known)
        AS_TRY(as_evaluate_origin(w->e));
    AS_TRY(list_operands(w));
    AS_TRY(make_groups(w));
    AS_TRY(fill_streams(w, out));
    return as_counters_find(w->program, w->loop, &w->steps, w->e, out);
}

int as_loop_streams(const struct as_program *program, uint32_t loop, struct as_streams *out,
                    struct as_error *err)
{
    struct stream_work w = {.program = program, .loop = loop};
    *out = (struct as_streams){0};
    struct as_scratch *scratch = as_scratch_acquire(program);
    if (scratch) {
        w.iteration = as_scratch_iteration(scratch, program, loop);
        w.e = &scratch->evaluation;
        w.arena = &scratch->arena;
    }
    int rc = w.iteration ? find_streams(&w, out) : AS_ERR_NOMEM;
    as_scratch_release(program, scratch);
    if (rc == 0)
        return 0;
    as_streams_free(out);
    return as_error_nomem(err, "the memory streams of a loop");
}

void as_streams_free(struct as_streams *streams)
{
    as_free(streams->at);
    as_free(streams->induction);
    *streams = (struct as_streams){0};
}
