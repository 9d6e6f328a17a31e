/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source iterations per iteration of a binary loop, by votes: how much more arithmetic and memory
 * the loop does than the smallest scalar loop of its group, which does one; and how many times the
 * same access repeats at equal distances. Votes that agree make the answer sure.
 */
#include <stdlib.h>

#include "code/source.h"

#define UNROLL_MOST 1024 /* a larger quotient is no unrolling */

struct votes {
    uint32_t value[5];
    uint32_t n;
};

static void vote(struct votes *votes, uint64_t whole, uint64_t part, uint64_t copies)
{
    if (part == 0 || whole == 0 || whole * copies % part != 0 ||
        whole * copies / part > UNROLL_MOST)
        return;
    votes->value[votes->n++] = (uint32_t)(whole * copies / part);
}

/* The loop of the group that does one source iteration at a time: scalar, with the least work. */
static uint32_t smallest(const struct assay_program *program, const struct assay_body *body,
                         uint32_t group, struct as_loop_work *work)
{
    uint32_t best = ASSAY_NONE;
    for (uint32_t l = body->first_loop; l < body->first_loop + body->loops; l++) {
        if (program->loop[l].group != group)
            continue;
        struct as_loop_work mine = as_source_work(program, l);
        if (mine.vector_b != 0)
            continue;
        if (best == ASSAY_NONE || mine.flops < work->flops ||
            (mine.flops == work->flops &&
             mine.loads_b + mine.stores_b < work->loads_b + work->stores_b)) {
            best = l;
            *work = mine;
        }
    }
    return best;
}

/* ---- Repetition -------------------------------------------------------------------------- */

struct access {
    uint64_t shape; /* registers, scale, width, direction */
    int64_t disp;
    uint32_t width_b;
};

static int by_shape(const void *a, const void *b)
{
    const struct access *x = a, *y = b;
    if (x->shape != y->shape)
        return (x->shape > y->shape) - (x->shape < y->shape);
    return (x->disp > y->disp) - (x->disp < y->disp);
}

static int accesses_of(const struct assay_program *program, uint32_t loop, struct as_arena *arena,
                       struct access **out, uint32_t *n)
{
    const struct assay_loop *l = &program->loop[loop];
    struct access *access = as_arena_array(arena, struct access, (size_t)l->insns + 1);
    *n = 0;
    *out = access;
    if (!access)
        return ASSAY_ERR_NOMEM;
    for (uint32_t k = 0; k < l->blocks; k++) {
        const struct assay_block *block = &program->block[program->loop_block[l->first_block + k]];
        for (uint32_t i = 0; i < block->insns && block->loop == loop; i++) {
            const struct assay_insn *insn = &program->code.insn[block->first_insn + i];
            struct assay_memory memory[2];
            int found = assay_insn_memory(&program->code, insn, memory);
            if (found != 1 || memory[0].stack || memory[0].rip_relative ||
                !(insn->bits & ASSAY_INSN_MEM))
                continue;
            uint64_t shape = (uint64_t)memory[0].base << 40 | (uint64_t)memory[0].index << 32 |
                             (uint64_t)memory[0].scale << 24 |
                             (uint64_t)(memory[0].access & 3) << 16 | (memory[0].width_b & 0xffff);
            access[(*n)++] = (struct access){shape, memory[0].disp, memory[0].width_b};
        }
    }
    if (*n)
        qsort(access, *n, sizeof *access, by_shape);
    return 0;
}

/*
 * Copies seen in the accesses: every shape occurs equally often, one access right after the other.
 * 0 when they do not repeat alike; `*shapes` counts those looked at.
 */
static uint32_t repetition(const struct access *access, uint32_t n, uint32_t *shapes)
{
    uint32_t copies = 0;
    *shapes = 0;
    for (uint32_t i = 0; i < n;) {
        uint32_t j = i + 1;
        while (j < n && access[j].shape == access[i].shape &&
               access[j].disp == access[j - 1].disp + (int64_t)access[i].width_b)
            j++;
        if (copies && j - i != copies)
            return 0;
        copies = j - i;
        ++*shapes;
        i = j;
    }
    return copies;
}

/* ---- All loops of a body ----------------------------------------------------------------- */

static void settle(struct assay_loop *loop, const struct votes *votes, bool reference)
{
    uint32_t agree = 0, best = 0;
    for (uint32_t i = 0; i < votes->n; i++) {
        uint32_t same = 0;
        for (uint32_t j = 0; j < votes->n; j++)
            same += votes->value[j] == votes->value[i];
        if (same > agree) {
            agree = same;
            best = votes->value[i];
        }
    }
    if (agree == 0)
        return;
    loop->unroll = (uint16_t)best;
    if (reference)
        loop->unroll_confidence = agree >= 3 ? 95 : agree == 2 ? 85 : votes->n == 1 ? 60 : 40;
    else
        loop->unroll_confidence = agree >= 2 ? 60 : 40;
}

/* Copies of the source iteration in a scalar loop, by repetition alone; 1 when none is seen. */
static int copies_of(const struct assay_program *program, uint32_t loop, struct as_arena *arena,
                     uint32_t *copies, uint32_t *shapes)
{
    struct access *access;
    uint32_t n;
    AS_TRY(accesses_of(program, loop, arena, &access, &n));
    *copies = repetition(access, n, shapes);
    return 0;
}

static int unroll_loop(struct assay_program *program, const struct assay_body *body, uint32_t l,
                       struct as_arena *arena)
{
    struct assay_loop *loop = &program->loop[l];
    struct as_loop_work work = as_source_work(program, l), one = {0};
    struct votes votes = {0};
    uint32_t copies, shapes;
    uint32_t lanes = work.vector_b && work.lanes ? work.lanes : 1;
    uint32_t reference = smallest(program, body, loop->group, &one);
    bool compared = reference != ASSAY_NONE && reference != l;
    if (compared) {
        AS_TRY(copies_of(program, reference, arena, &copies, &shapes));
        uint32_t each = copies ? copies : 1; /* the smallest may itself be unrolled */
        vote(&votes, (uint64_t)work.flops + work.intops, (uint64_t)one.flops + one.intops, each);
        vote(&votes, work.loads_b, one.loads_b, each);
        vote(&votes, work.stores_b, one.stores_b, each);
    }
    AS_TRY(copies_of(program, l, arena, &copies, &shapes));
    if (copies)
        vote(&votes, (uint64_t)copies * lanes, 1, 1);
    if (!compared && copies && shapes >= 2) /* several arrays say the same */
        vote(&votes, (uint64_t)copies * lanes, 1, 1);
    settle(loop, &votes, compared);
    return 0;
}

int as_source_unroll(struct assay_program *program, uint32_t body, struct as_arena *arena)
{
    const struct assay_body *b = &program->body[body];
    for (uint32_t l = b->first_loop; l < b->first_loop + b->loops; l++) {
        bool inner = program->loop[l].level == ASSAY_LEVEL_INNERMOST ||
                     program->loop[l].level == ASSAY_LEVEL_SINGLE;
        if (inner)
            AS_TRY(unroll_loop(program, b, l, arena));
    }
    return 0;
}
