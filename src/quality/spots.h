/* SPDX-License-Identifier: Apache-2.0 */
/* Samples at single instructions. */
#ifndef AS_QUALITY_SPOTS_H
#define AS_QUALITY_SPOTS_H

#include <assay/code.h>

/* An instruction with samples, in a loop of the experiment. */
struct as_spot {
    int64_t loop_id; /* 0: in none */
    uint32_t insn;   /* into program.code.insn */
    int64_t n;
};

/* True for the copies and fills of blocks (rep movs, rep stos). */
bool as_spot_copies(const struct assay_insn *insn);

/*
 * Samples that fell behind branches of the loop that go both ways on loaded data: at the first two
 * instructions of each way, where a CPU stands after a misprediction. A timer's sample is at the
 * instruction after the one that is waited for. 0 if one of the ways has less than a tenth of all.
 * `spot` by ascending instruction.
 */
int64_t as_spots_behind_branches(const struct assay_program *program, uint32_t loop,
                                 const struct as_spot *spot, size_t n);

#endif
