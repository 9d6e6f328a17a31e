/* SPDX-License-Identifier: Apache-2.0 */
/* Samples at single instructions. */
#ifndef AS_QUALITY_SPOTS_H
#define AS_QUALITY_SPOTS_H

#include "code/code.h"

/* An instruction with samples. */
struct as_spot {
    int64_t function_id, loop_id; /* loop 0: outside loops */
    uint32_t insn;                /* index in program.code.insn */
    int64_t n;
};

/* Returns true for block copies and block fills (rep movs, rep stos). */
bool as_spot_copies(const struct as_insn *insn);

/* Branches of a loop that depend on data and go both ways. */
struct as_branch_spots {
    uint32_t branch_n;
    int64_t all;    /* samples of the loop, without inner loops */
    int64_t behind; /* of these, samples where a core waits after a misprediction */
    double wrong_n; /* max mispredictions per iteration */
};

/*
 * Finds branches of the loop that go both ways depending on data: on loaded values, or on values
 * that iterations compute other than by counting. Each direction has at least a tenth of the
 * samples of both. The end of an inner loop may be such a branch. `spot` has the samples of the
 * function, ascending by instruction; `id` is the id of the loop in the experiment.
 *
 * After a misprediction a core waits for the first instruction of the target. A timer samples the
 * instruction after the one that the core waits for: the second of the target. Without
 * mispredictions many instructions retire at once, and the sample is at the first of them.
 *
 * A predictor of one fixed direction mispredicts at most half of the branches. If blocks were
 * counted, the rarer direction is the limit. `ran` has these counts by address, or is NULL.
 */
struct as_block_samples;
void as_spots_behind_branches(const struct as_program *program, uint32_t loop, int64_t id,
                              const struct as_spot *spot, size_t n,
                              const struct as_block_samples *ran, size_t ran_n,
                              struct as_branch_spots *out);

#endif
