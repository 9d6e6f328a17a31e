/* SPDX-License-Identifier: Apache-2.0 */
/* Samples at single instructions. */
#ifndef AS_QUALITY_SPOTS_H
#define AS_QUALITY_SPOTS_H

#include <assay/code.h>

/* An instruction with samples, in a loop of the experiment. */
struct as_spot {
    int64_t function_id, loop_id; /* loop 0: in none */
    uint32_t insn;                /* into program.code.insn */
    int64_t n;
};

/* True for the copies and fills of blocks (rep movs, rep stos). */
bool as_spot_copies(const struct assay_insn *insn);

/* Branches of a loop that data decide, and which go both ways. */
struct as_branch_spots {
    uint32_t branch_n;
    int64_t all;    /* samples of the loop, without inner loops */
    int64_t behind; /* of these, where a core stands after a misprediction */
    double wrong_n; /* mispredictions of an iteration at most */
};

/*
 * Finds branches of the loop that go both ways on data: on what was loaded, or on what iterations
 * compute other than by counting. Each way has a tenth of the samples of both. The end of an inner
 * loop is such a branch, too. `spot`: those of the function, by ascending instruction; `id` of the
 * loop.
 *
 * After a misprediction a core waits for the first instruction of the way. A timer's sample is at
 * the instruction after the one that is waited for: at the second of the way. Without
 * mispredictions many instructions retire at once, and samples are at the first of these.
 *
 * A predictor of one direction is wrong for at most half of the branches. If blocks were counted
 * (`ran`, by address; NULL: not) it is wrong for the rarer way at most.
 */
struct as_block_samples;
void as_spots_behind_branches(const struct assay_program *program, uint32_t loop, int64_t id,
                              const struct as_spot *spot, size_t n,
                              const struct as_block_samples *ran, size_t ran_n,
                              struct as_branch_spots *out);

#endif
