/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the work of one loop iteration that the source asks for: floating-point and packed integer
 * arithmetic, calls, loads and stores. Each has its place in the source. The stack, constants of
 * the file, and address arithmetic are left out. Scalar integer arithmetic is left out too, because
 * it often counts iterations.
 */
#include <stdlib.h>

#include "code/source.h"

#define LATCHES_MOST 16 /* for more back edges only the header is in every iteration */

/* ---- Blocks of every iteration ----------------------------------------------------------- */

struct always {
    uint32_t *mark, *count; /* per block of the body: loop + 1 of the last count, and the count */
    uint32_t latches;
};

/* Counts, per block, the back edges of the loop that the block dominates. */
static void find_always(const struct as_source *s, uint32_t loop, struct always *a)
{
    const struct as_program *program = s->program;
    const struct as_loop *l = &program->loop[loop];
    const struct as_block *header = &program->block[l->header];
    uint32_t first = s->body->first_block;
    a->latches = 0;
    a->mark[l->header - first] = loop + 1;
    for (uint32_t e = header->first_pred; e < header->first_pred + header->preds; e++) {
        if (!program->pred[e].back || ++a->latches > LATCHES_MOST)
            continue;
        uint32_t v = program->pred[e].block, steps = 0;
        for (; v != AS_NONE && v != l->header && steps++ < l->blocks; v = program->block[v].idom) {
            if (a->mark[v - first] != loop + 1)
                a->count[v - first] = 0;
            a->mark[v - first] = loop + 1;
            a->count[v - first]++;
        }
    }
    a->count[l->header - first] = a->latches;
}

static bool is_always(const struct as_source *s, uint32_t loop, uint32_t block,
                      const struct always *a)
{
    uint32_t v = block - s->body->first_block;
    return a->mark[v] == loop + 1 && a->count[v] == a->latches;
}

/* ---- Operations -------------------------------------------------------------------------- */

static bool moves_data(const struct as_form *form)
{
    switch (form->insn_class) {
    case AS_CLASS_CALL:
    case AS_CLASS_JUMP:
    case AS_CLASS_BRANCH:
    case AS_CLASS_RETURN:
    case AS_CLASS_PREFETCH:
    case AS_CLASS_NOP:
        return false;
    default:
        return true;
    }
}

/* Returns true for packed integer work that stands for a source operator. Other integer
 * instructions are often one step of several for an operator. */
static bool is_int_operator(const struct as_form *form)
{
    switch (form->insn_class) {
    case AS_CLASS_ADD:
    case AS_CLASS_MUL:
    case AS_CLASS_MINMAX:
    case AS_CLASS_ABS:
        return form->intops > 0 && form->traits & AS_TRAIT_PACKED;
    default:
        return false;
    }
}

/* Max values of the instructions so far: bytes of a packed access, lanes of arithmetic. */
struct widest {
    uint32_t moved_b, lanes;
};

uint64_t as_source_place(const struct as_source_row *row)
{
    return (uint64_t)row->file << 40 | (uint64_t)row->line << 16 | row->column;
}

/* Adds an operation. Operations without a place only count in the sums. */
static int add_op(struct as_source *s, struct as_source_op op)
{
    return op.place ? as_vec_push(&s->op, op) : 0;
}

static int add_memory(struct as_source *s, struct as_loop_work *work, struct as_source_op op,
                      const struct as_memory *memory)
{
    if (memory->stack || memory->rip_relative)
        return 0;
    op.amount = memory->width_b;
    if (memory->element_b)
        op.element_b = memory->element_b;
    if (memory->access & AS_ACCESS_READ) {
        work->loads_b += memory->width_b;
        work->packed_loads_b += op.packed ? memory->width_b : 0;
        op.kind = AS_SOURCE_LOAD;
        AS_TRY(add_op(s, op));
    }
    if (memory->access & AS_ACCESS_WRITE) {
        work->stores_b += memory->width_b;
        work->packed_stores_b += op.packed ? memory->width_b : 0;
        op.kind = AS_SOURCE_STORE;
        AS_TRY(add_op(s, op));
    }
    return 0;
}

static int add_insn(struct as_source *s, struct as_loop_work *work, uint32_t index,
                    struct as_source_op op, struct widest *widest)
{
    const struct as_insn *insn = &s->program->code.insn[index];
    const struct as_form *form = as_form_of(insn);
    bool packed = form->traits & AS_TRAIT_PACKED;
    struct as_memory memory[2];
    int n = moves_data(form) ? as_insn_memory(&s->program->code, insn, memory) : 0;
    op.element_b = form->element_b;
    op.packed = packed;
    op.fp = form->traits & AS_TRAIT_FP;
    for (int m = 0; m < n; m++)
        AS_TRY(add_memory(s, work, op, &memory[m]));
    if (form->insn_class == AS_CLASS_CALL) {
        op.kind = AS_CLASS_CALL;
        op.amount = 1;
        return add_op(s, op);
    }
    work->masked += insn->mask != AS_REG_NONE || form->traits & AS_TRAIT_MASKED;
    if (insn->bits & AS_INSN_IDIOM)
        return 0;
    work->flops += form->flops;
    work->packed_flops += packed ? form->flops : 0;
    work->intops += packed ? form->intops : 0;
    if (packed && (form->flops || form->intops) && form->vector_b > work->vector_b)
        work->vector_b = form->vector_b;
    if (packed && n > 0 && form->vector_b > widest->moved_b)
        widest->moved_b = form->vector_b;
    if (!form->flops && !is_int_operator(form))
        return 0;
    if (form->lanes > widest->lanes) {
        widest->lanes = form->lanes;
        work->element_b = form->element_b;
    }
    op.kind = form->insn_class;
    op.amount = form->lanes;
    op.fp = form->flops > 0;
    return add_op(s, op);
}

/* Adds the operations of one block that is in the loop and in no inner loop. */
static int add_block(struct as_source *s, struct as_loop_work *work, uint32_t block, bool always,
                     struct widest *widest)
{
    const struct as_block *b = &s->program->block[block];
    const uint32_t *first = &s->first_row[block - s->body->first_block];
    uint32_t r = first[0];
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        uint64_t address = s->program->code.insn[i].address;
        struct as_source_op op = {.at = AS_NONE, .always = always};
        while (r + 1 < first[1] && s->row[r + 1].address <= address)
            r++;
        if (r < first[1] && s->row[r].address <= address) {
            const struct as_source_row *row = &s->row[r];
            op.place = as_source_place(row);
            op.at = row->at;
            op.column = row->column != 0;
        }
        AS_TRY(add_insn(s, work, i, op, widest));
    }
    return 0;
}

/* ---- Places ------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int add_place(struct as_source *s, uint64_t place)
{
    return place ? as_vec_push(&s->place, place) : 0;
}

/* Visits the places of all rows of the loop's own blocks and appends them if `keep` is set. Sets
 * `*same` if all places are equal. */
static int add_row_places(struct as_source *s, uint32_t loop, bool keep, bool *same)
{
    const struct as_loop *l = &s->program->loop[loop];
    uint64_t first_seen = 0;
    *same = true;
    for (uint32_t k = 0; k < l->blocks; k++) {
        uint32_t block = s->program->loop_block[l->first_block + k];
        const uint32_t *first = &s->first_row[block - s->body->first_block];
        for (uint32_t r = first[0]; r < first[1]; r++) {
            if (s->program->block[block].loop != loop || s->row[r].opening)
                continue;
            uint64_t place = as_source_place(&s->row[r]);
            first_seen = first_seen ? first_seen : place;
            *same &= place == first_seen;
            if (keep)
                AS_TRY(add_place(s, place));
        }
    }
    return 0;
}

/* Finds the places of the loop's work, or of all its own code if it does none. */
static int find_places(struct as_source *s, uint32_t loop, struct as_loop_work *work)
{
    work->first_place = (uint32_t)s->place.n;
    for (uint32_t i = 0; i < work->ops; i++)
        AS_TRY(add_place(s, s->op.at[work->first_op + i].place));
    AS_TRY(add_row_places(s, loop, work->ops == 0, &work->one_place));
    uint32_t n = (uint32_t)s->place.n - work->first_place;
    uint64_t *place = s->place.at + work->first_place;
    if (n > 1)
        qsort(place, n, sizeof *place, by_value);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || place[i] != place[i - 1])
            place[work->places++] = place[i];
    }
    s->place.n = work->first_place + work->places;
    return 0;
}

/* Returns true if packed instructions do most of the work. Scalar loops have single packed
 * instructions too: conversions, pairs of scalars. */
static bool is_vectorised(const struct as_loop_work *work)
{
    if (work->packed_stores_b && work->packed_stores_b * 2 > work->stores_b)
        return true;
    if (work->flops)
        return work->packed_flops * 2 > work->flops;
    return work->packed_loads_b && work->packed_loads_b * 2 > work->loads_b && !work->stores_b;
}

int as_source_works(struct as_source *s)
{
    size_t blocks = s->body->blocks;
    struct always a = {.mark = as_arena_array(s->arena, uint32_t, blocks),
                       .count = as_arena_array(s->arena, uint32_t, blocks)};
    s->work = as_arena_array(s->arena, struct as_loop_work, s->body->loops);
    if (!s->work || !a.mark || !a.count)
        return AS_ERR_NOMEM;
    for (uint32_t n = 0; n < s->body->loops; n++) {
        uint32_t loop = s->body->first_loop + n;
        struct widest widest = {0};
        const struct as_loop *l = &s->program->loop[loop];
        struct as_loop_work *work = &s->work[n];
        find_always(s, loop, &a);
        work->first_op = (uint32_t)s->op.n;
        for (uint32_t k = 0; k < l->blocks; k++) {
            uint32_t block = s->program->loop_block[l->first_block + k];
            if (s->program->block[block].loop == loop)
                AS_TRY(add_block(s, work, block, is_always(s, loop, block, &a), &widest));
        }
        work->ops = (uint32_t)s->op.n - work->first_op;
        if (work->vector_b == 0)
            work->vector_b = widest.moved_b;
        work->vectorised = is_vectorised(work);
        work->all_flops = work->flops;
        work->all_b = (uint64_t)work->loads_b + work->stores_b;
        AS_TRY(find_places(s, loop, work));
    }
    for (uint32_t n = s->body->loops; n-- > 0;) { /* inner loops come after outer ones */
        uint32_t parent = s->program->loop[s->body->first_loop + n].parent;
        if (parent == AS_NONE)
            continue;
        s->work[parent - s->body->first_loop].all_flops += s->work[n].all_flops;
        s->work[parent - s->body->first_loop].all_b += s->work[n].all_b;
    }
    return 0;
}
