/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binary loops of one source loop: they end within two lines of each other in the same file at the
 * same place of inlining, and none stands in another. The one that does most per iteration is the
 * main loop; where control may come from it to another, that one is a tail; the other way round, a
 * peel; neither way, a version chosen at run time.
 * Source: Djoudi et al., "MAQAO: modular assembler quality analyzer and optimizer for Itanium 2",
 * 2005, and the CQA paper (rule of the last line and the distance of two).
 */
#include <stdlib.h>
#include <string.h>

#include "code/source.h"

#define LAST_LINES_APART 2
#define VISITED_MOST     20000 /* blocks of one search; beyond it, the order of addresses counts */

/* ---- Work -------------------------------------------------------------------------------- */

static void add_insn(const struct assay_program *program, size_t index, struct as_loop_work *work,
                     uint16_t *moved_b)
{
    const struct assay_insn *insn = &program->code.insn[index];
    const struct assay_form *form = assay_form_get(insn->form);
    struct assay_memory memory[2];
    int n = assay_insn_memory(&program->code, insn, memory);
    for (int m = 0; m < n; m++) {
        if (memory[m].stack)
            continue;
        work->accesses++;
        if (memory[m].access & ASSAY_ACCESS_READ)
            work->loads_b += memory[m].width_b;
        if (memory[m].access & ASSAY_ACCESS_WRITE)
            work->stores_b += memory[m].width_b;
    }
    bool packed = form->traits & ASSAY_TRAIT_PACKED;
    if (insn->bits & ASSAY_INSN_IDIOM)
        return;
    work->flops += form->flops;
    if (packed)
        work->intops += form->intops;
    if (packed && (form->flops || form->intops) && form->vector_b > work->vector_b) {
        work->vector_b = form->vector_b;
        work->lanes = form->lanes;
    }
    if (packed && n > 0 && form->vector_b > *moved_b)
        *moved_b = form->vector_b;
}

struct as_loop_work as_source_work(const struct assay_program *program, uint32_t loop)
{
    struct as_loop_work work = {0};
    const struct assay_loop *l = &program->loop[loop];
    uint16_t moved_b = 0;
    for (uint32_t k = 0; k < l->blocks; k++) {
        const struct assay_block *block = &program->block[program->loop_block[l->first_block + k]];
        for (uint32_t i = 0; i < block->insns && block->loop == loop; i++)
            add_insn(program, block->first_insn + i, &work, &moved_b);
    }
    if (work.vector_b == 0)
        work.vector_b = moved_b;
    return work;
}

/* ---- Who belongs together ---------------------------------------------------------------- */

static bool is_inside(const struct assay_program *program, uint32_t loop, uint32_t outer)
{
    while (loop != ASSAY_NONE && loop != outer)
        loop = program->loop[loop].parent;
    return loop == outer;
}

static bool has_inner(const struct assay_loop *loop)
{
    return loop->level == ASSAY_LEVEL_OUTERMOST || loop->level == ASSAY_LEVEL_BETWEEN;
}

/* The same function inlined by the same line; copies of one call count as one place. */
static bool same_place(const struct assay_debug *debug, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a == ASSAY_NONE || b == ASSAY_NONE)
            return false;
        const struct assay_inline *x = &debug->inlines[a], *y = &debug->inlines[b];
        if (x->decl_file != y->decl_file || x->decl_line != y->decl_line ||
            x->call_file != y->call_file || x->call_line != y->call_line)
            return false;
        if (x->call_line == 0)
            return true;
        a = x->parent;
        b = y->parent;
    }
    return true;
}

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

static bool together(const struct assay_program *program, uint32_t a, uint32_t b)
{
    const struct assay_loop *x = &program->loop[a], *y = &program->loop[b];
    const struct assay_source_range *from_x = &program->loop_source[x->source];
    const struct assay_source_range *from_y = &program->loop_source[y->source];
    return from_x->file == from_y->file &&
           apart(from_x->last_line, from_y->last_line) <= LAST_LINES_APART &&
           from_x->first_line <= from_y->last_line && from_y->first_line <= from_x->last_line &&
           has_inner(x) == has_inner(y) &&
           (x->depth == y->depth ||
            apart(from_x->first_line, from_y->first_line) <= LAST_LINES_APART) &&
           same_place(&program->debug, x->inlined, y->inlined) && !is_inside(program, a, b) &&
           !is_inside(program, b, a);
}

/* ---- Order ------------------------------------------------------------------------------- */

struct search {
    uint32_t *seen, *stack; /* per block of the body */
    uint32_t stamp;
};

/* Whether control may come from loop `a` to the header of `b` without going back in a loop around
 * both. */
static bool reaches(const struct assay_program *program, uint32_t a, uint32_t b,
                    struct search *search)
{
    uint32_t *seen = search->seen, *stack = search->stack, stamp = ++search->stamp;
    const struct assay_loop *from = &program->loop[a];
    const struct assay_body *body = &program->body[from->body];
    uint32_t target = program->loop[b].header, depth = 0, visited = 0;
    stack[depth++] = from->header;
    seen[from->header - body->first_block] = stamp;
    while (depth) {
        const struct assay_block *block = &program->block[stack[--depth]];
        if (++visited > VISITED_MOST)
            return program->block[from->header].start < program->block[target].start;
        for (uint32_t e = block->first_succ; e < block->first_succ + block->succs; e++) {
            uint32_t to = program->succ[e].block;
            if (to == target)
                return true;
            /* Ways back of loops around `a` would lead round to everything in them. */
            bool round = program->succ[e].back && is_inside(program, a, program->block[to].loop);
            if (round || seen[to - body->first_block] == stamp)
                continue;
            seen[to - body->first_block] = stamp;
            stack[depth++] = to;
        }
    }
    return false;
}

/* ---- Roles ------------------------------------------------------------------------------- */

/* More work per iteration: wider vectors, then more operations, then more bytes. */
static bool does_more(const struct as_loop_work *a, const struct as_loop_work *b)
{
    uint64_t a_ops = (uint64_t)a->flops + a->intops, b_ops = (uint64_t)b->flops + b->intops;
    if (a->vector_b != b->vector_b)
        return a->vector_b > b->vector_b;
    if (a_ops != b_ops)
        return a_ops > b_ops;
    return (uint64_t)a->loads_b + a->stores_b > (uint64_t)b->loads_b + b->stores_b;
}

struct members {
    uint32_t *loop;
    uint32_t n;
};

static int give_roles(struct assay_program *program, const struct members *m, struct search *search,
                      struct as_arena *arena)
{
    struct as_loop_work *work = as_arena_array(arena, struct as_loop_work, m->n);
    uint32_t best = 0;
    if (!work)
        return ASSAY_ERR_NOMEM;
    for (uint32_t i = 0; i < m->n; i++) {
        work[i] = as_source_work(program, m->loop[i]);
        if (i > 0 && does_more(&work[i], &work[best]))
            best = i;
    }
    uint32_t main = m->loop[best];
    for (uint32_t i = 0; i < m->n; i++) {
        struct assay_loop *loop = &program->loop[m->loop[i]];
        loop->group = main;
        if (i == best)
            continue;
        bool packed = work[i].vector_b > 0;
        if (reaches(program, main, m->loop[i], search))
            loop->role = packed ? ASSAY_ROLE_VECTOR_TAIL : ASSAY_ROLE_TAIL;
        else if (reaches(program, m->loop[i], main, search))
            loop->role = packed ? ASSAY_ROLE_VECTOR_PEEL : ASSAY_ROLE_PEEL;
        else
            loop->role = ASSAY_ROLE_VERSION;
    }
    return 0;
}

/* ---- Groups of a body -------------------------------------------------------------------- */

struct keyed {
    uint32_t file, last_line, loop;
};

static int by_last_line(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->file != y->file)
        return (x->file > y->file) - (x->file < y->file);
    if (x->last_line != y->last_line)
        return (x->last_line > y->last_line) - (x->last_line < y->last_line);
    return (x->loop > y->loop) - (x->loop < y->loop);
}

int as_source_groups(struct assay_program *program, uint32_t body, struct as_arena *arena)
{
    const struct assay_body *b = &program->body[body];
    struct keyed *key = as_arena_array(arena, struct keyed, b->loops);
    bool *taken = as_arena_array(arena, bool, b->loops);
    struct members m = {.loop = as_arena_array(arena, uint32_t, b->loops)};
    struct search search = {.seen = as_arena_array(arena, uint32_t, b->blocks),
                            .stack = as_arena_array(arena, uint32_t, b->blocks)};
    uint32_t n = 0;
    if (!key || !taken || !m.loop || !search.seen || !search.stack)
        return ASSAY_ERR_NOMEM;
    for (uint32_t i = b->first_loop; i < b->first_loop + b->loops; i++) {
        const struct assay_loop *loop = &program->loop[i];
        if (loop->sources)
            key[n++] = (struct keyed){program->loop_source[loop->source].file,
                                      program->loop_source[loop->source].last_line, i};
    }
    if (n)
        qsort(key, n, sizeof *key, by_last_line);
    for (uint32_t i = 0; i < n; i++) {
        if (taken[i])
            continue;
        m.n = 0;
        m.loop[m.n++] = key[i].loop;
        for (uint32_t j = i + 1; j < n && key[j].file == key[i].file &&
                                 key[j].last_line - key[i].last_line <= LAST_LINES_APART;
             j++) {
            bool fits = !taken[j];
            for (uint32_t k = 0; k < m.n && fits; k++)
                fits = together(program, m.loop[k], key[j].loop);
            if (fits) {
                taken[j] = true;
                m.loop[m.n++] = key[j].loop;
            }
        }
        if (m.n > 1)
            AS_TRY(give_roles(program, &m, &search, arena));
    }
    return 0;
}
