/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples at single instructions: copies of blocks, and what stands behind branches that are hard
 * to predict.
 */
#include "quality/spots.h"

#include <math.h>

#include "base/search.h"
#include "quality/weights.h"

#define LEAST_PART    0.1 /* of the samples of both ways, of each */
#define LEAST_SAMPLES 4   /* of both ways */
#define ROUNDS        4   /* values go through so many instructions */

bool as_spot_copies(const struct as_insn *insn)
{
    const struct as_form *form = as_form_get(insn->form);

    return form->traits & AS_TRAIT_REP && form->insn_class == AS_CLASS_STRING;
}

/* ---- Branches on data ------------------------------------------------------------------------ */

static bool reads_data(const struct as_insn *insn)
{
    struct as_memory place[2];
    const int n = as_insn_memory(NULL, insn, place);

    for (int i = 0; i < n; i++)
        if (place[i].access & AS_ACCESS_READ && !place[i].stack && !place[i].rip_relative)
            return true;
    return false;
}

/* Results that look like draws: of products, shifts and exclusive or of what the iteration before
 * left. A count goes up by sums alone. */
static bool mixes(const struct as_insn *insn)
{
    switch (as_form_get(insn->form)->insn_class) {
    case AS_CLASS_MUL:
    case AS_CLASS_SHIFT:
        return true;
    default:
        return false;
    }
}

static void add_block(const struct as_program *program, const struct as_block *block,
                      struct as_regset *data)
{
    for (uint32_t k = 0; k < block->insns; k++) {
        const struct as_insn *insn = &program->code.insn[block->first_insn + k];
        struct as_effects effects;

        as_insn_effects(insn, &effects);
        if (reads_data(insn) || as_regset_meets(effects.read, *data) ||
            (mixes(insn) && as_regset_meets(effects.read, effects.written)))
            as_regset_join(data, effects.written);
    }
}

/* Registers that have at some place what was loaded, or computed from it, or mixed. */
static struct as_regset data_of(const struct as_program *program, uint32_t loop)
{
    const struct as_loop *from = &program->loop[loop];
    struct as_regset data = {0};

    for (int round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < from->blocks; i++)
            add_block(program, &program->block[program->loop_block[from->first_block + i]], &data);
    return data;
}

/* The last instruction that sets flags before the branch at the end decides by data. */
static bool decides_by(const struct as_program *program, const struct as_block *block,
                       struct as_regset data)
{
    for (uint32_t k = block->insns - 1; k-- > 0;) {
        const struct as_insn *insn = &program->code.insn[block->first_insn + k];
        struct as_effects effects;

        as_insn_effects(insn, &effects);
        if (effects.flags_written)
            return reads_data(insn) || as_regset_meets(effects.read, data);
    }
    return false;
}

static bool is_within(const struct as_program *program, uint32_t inner, uint32_t loop)
{
    while (inner != AS_NONE && inner != loop)
        inner = program->loop[inner].parent;
    return inner == loop;
}

/* Both ways stay in the loop, and not both in one loop inside. */
static bool forks(const struct as_program *program, const struct as_block *block, uint32_t loop)
{
    const struct as_insn *last = &program->code.insn[block->first_insn + block->insns - 1];
    const struct as_edge *to = &program->succ[block->first_succ];

    if (block->insns < 2 || block->succs != 2 || to[0].block == to[1].block ||
        as_form_get(last->form)->insn_class != AS_CLASS_BRANCH)
        return false;
    const uint32_t one = program->block[to[0].block].loop;
    const uint32_t other = program->block[to[1].block].loop;

    return one == loop ? is_within(program, other, loop)
                       : other == loop && is_within(program, one, loop);
}

/* Samples at some instructions, of the loop `id` (0: of any). */
static int64_t samples_at(const struct as_spot *spot, size_t n, uint32_t first, uint32_t insns,
                          int64_t id)
{
    int64_t sum = 0;

    for (size_t i = as_first_not(k, n, spot[k].insn < first); i < n && spot[i].insn < first + insns;
         i++)
        sum += !id || spot[i].loop_id == id ? spot[i].n : 0;
    return sum;
}

/* Samples at the second instruction of a way, in the next block if the first has one alone. */
static int64_t samples_at_second(const struct as_program *program, const struct as_block *way,
                                 const struct as_spot *spot, size_t n, int64_t id)
{
    if (way->insns >= 2)
        return samples_at(spot, n, way->first_insn + 1, 1, id);
    if (way->succs != 1)
        return 0;
    return samples_at(spot, n, program->block[program->succ[way->first_succ].block].first_insn, 1,
                      id);
}

static int64_t count_of(const struct as_block_samples *ran, size_t n, uint64_t address)
{
    for (size_t i = 0; i < n; i++)
        if (ran[i].address == address)
            return ran[i].n;
    return 0;
}

/* How often the branch at the end of `block` is mispredicted in an iteration, at most. */
static double wrong_of(const struct as_program *program, uint32_t loop,
                       const struct as_block *block, const struct as_block_samples *ran,
                       size_t ran_n)
{
    const struct as_edge *to = &program->succ[block->first_succ];
    const int64_t all = count_of(ran, ran_n, block->start);
    const int64_t started = count_of(ran, ran_n, program->block[program->loop[loop].header].start);

    if (!started)
        return 0.5;
    double wrong = 0.5 * (double)all;
    for (int k = 0; k < 2; k++) {
        const struct as_block *way = &program->block[to[k].block];
        const double taken = (double)count_of(ran, ran_n, way->start);

        if (way->preds == 1 && taken <= (double)all)
            wrong = fmin(wrong, fmin(taken, (double)all - taken));
    }
    return wrong / (double)started;
}

/* Samples behind the branch at the end of a block; false where it does not go both ways often. */
static bool find_behind(const struct as_program *program, const struct as_block *block, int64_t id,
                        const struct as_spot *spot, size_t n, int64_t *behind)
{
    int64_t way[2];

    *behind = 0;
    for (int k = 0; k < 2; k++) {
        const struct as_block *to =
            &program->block[program->succ[block->first_succ + (uint32_t)k].block];

        way[k] = samples_at(spot, n, to->first_insn, to->insns, 0);
        if (to->insns == 1)
            way[k] += samples_at_second(program, to, spot, n, 0);
        *behind += samples_at_second(program, to, spot, n, id);
    }
    const int64_t both = way[0] + way[1];

    return both >= LEAST_SAMPLES && (double)way[0] >= LEAST_PART * (double)both &&
           (double)way[1] >= LEAST_PART * (double)both;
}

void as_spots_behind_branches(const struct as_program *program, uint32_t loop, int64_t id,
                              const struct as_spot *spot, size_t n,
                              const struct as_block_samples *ran, size_t ran_n,
                              struct as_branch_spots *out)
{
    const struct as_loop *from = &program->loop[loop];
    struct as_regset data = {0};
    bool has_data = false;

    *out = (struct as_branch_spots){0};
    for (size_t i = 0; i < n; i++)
        out->all += spot[i].loop_id == id ? spot[i].n : 0;
    for (uint32_t i = 0; i < from->blocks; i++) {
        const struct as_block *block = &program->block[program->loop_block[from->first_block + i]];
        int64_t behind;

        if (!forks(program, block, loop) || !find_behind(program, block, id, spot, n, &behind))
            continue;
        data = has_data ? data : data_of(program, loop);
        has_data = true;
        if (!decides_by(program, block, data))
            continue;
        out->branch_n++;
        out->behind += behind;
        out->wrong_n += wrong_of(program, loop, block, ran, ran_n);
    }
    out->behind = out->behind < out->all ? out->behind : out->all;
}
