/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples at single instructions: copies of blocks, and what stands behind branches that are hard
 * to predict.
 */
#include "quality/spots.h"

#include "base/search.h"

#define FIRST_INSNS 2   /* of a way: at the second one if the first is waited for */
#define LEAST_PART  0.1 /* of the loop's samples, of each way */
#define ROUNDS      4   /* values go through so many instructions */

bool as_spot_copies(const struct assay_insn *insn)
{
    const struct assay_form *form = assay_form_get(insn->form);

    return form->traits & ASSAY_TRAIT_REP && form->insn_class == ASSAY_CLASS_STRING;
}

/* ---- Branches on data ------------------------------------------------------------------------ */

static bool reads_data(const struct assay_insn *insn)
{
    struct assay_memory place[2];
    const int n = assay_insn_memory(NULL, insn, place);

    for (int i = 0; i < n; i++)
        if (place[i].access & ASSAY_ACCESS_READ && !place[i].stack && !place[i].rip_relative)
            return true;
    return false;
}

static void add_block(const struct assay_program *program, const struct assay_block *block,
                      struct assay_regset *data)
{
    for (uint32_t k = 0; k < block->insns; k++) {
        const struct assay_insn *insn = &program->code.insn[block->first_insn + k];
        struct assay_effects effects;

        assay_insn_effects(insn, &effects);
        if (reads_data(insn) || assay_regset_meets(effects.read, *data))
            assay_regset_join(data, effects.written);
    }
}

/* Registers that have at some place what was loaded, or computed from it. */
static struct assay_regset data_of(const struct assay_program *program, uint32_t loop)
{
    const struct assay_loop *from = &program->loop[loop];
    struct assay_regset data = {0};

    for (int round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < from->blocks; i++)
            add_block(program, &program->block[program->loop_block[from->first_block + i]], &data);
    return data;
}

/* The last instruction that sets flags before the branch at the end decides by data. */
static bool decides_by(const struct assay_program *program, const struct assay_block *block,
                       struct assay_regset data)
{
    for (uint32_t k = block->insns - 1; k-- > 0;) {
        const struct assay_insn *insn = &program->code.insn[block->first_insn + k];
        struct assay_effects effects;

        assay_insn_effects(insn, &effects);
        if (effects.flags_written)
            return reads_data(insn) || assay_regset_meets(effects.read, data);
    }
    return false;
}

/* Both ways stay in the loop, and neither begins its next iteration. */
static bool forks(const struct assay_program *program, const struct assay_block *block,
                  uint32_t loop)
{
    const struct assay_insn *last = &program->code.insn[block->first_insn + block->insns - 1];
    const struct assay_edge *to = &program->succ[block->first_succ];

    return block->insns > 1 && block->succs == 2 &&
           assay_form_get(last->form)->insn_class == ASSAY_CLASS_BRANCH && !to[0].back &&
           !to[1].back && program->block[to[0].block].loop == loop &&
           program->block[to[1].block].loop == loop;
}

static int64_t samples_at(const struct as_spot *spot, size_t n, uint32_t first, uint32_t insns)
{
    int64_t sum = 0;

    for (size_t i = as_first_not(k, n, spot[k].insn < first); i < n && spot[i].insn < first + insns;
         i++)
        sum += spot[i].n;
    return sum;
}

int64_t as_spots_behind_branches(const struct assay_program *program, uint32_t loop,
                                 const struct as_spot *spot, size_t n)
{
    const struct assay_loop *from = &program->loop[loop];
    struct assay_regset data = {0};
    bool has_data = false;
    int64_t all = 0, behind = 0;

    for (size_t i = 0; i < n; i++)
        all += spot[i].n;
    for (uint32_t i = 0; i < from->blocks; i++) {
        const struct assay_block *block =
            &program->block[program->loop_block[from->first_block + i]];
        int64_t way[2];

        if (block->loop != loop || !forks(program, block, loop))
            continue;
        for (int k = 0; k < 2; k++) {
            const struct assay_block *to =
                &program->block[program->succ[block->first_succ + (uint32_t)k].block];
            way[k] = samples_at(spot, n, to->first_insn,
                                to->insns < FIRST_INSNS ? to->insns : FIRST_INSNS);
        }
        if ((double)way[0] < LEAST_PART * (double)all || (double)way[1] < LEAST_PART * (double)all)
            continue;
        data = has_data ? data : data_of(program, loop);
        has_data = true;
        if (decides_by(program, block, data))
            behind += way[0] + way[1];
    }
    return behind < all ? behind : all;
}
