/* SPDX-License-Identifier: Apache-2.0 */
/* Loop-carried chains of a loop with one path. */
#ifndef AS_QUALITY_CHAINS_H
#define AS_QUALITY_CHAINS_H

#include "code/code.h"

struct as_chains {
    uint32_t fp_n;  /* chains of floating-point arithmetic */
    uint32_t sum_n; /* chains of fp_n that only add, or only multiply */
    /* Carried chains without floating-point arithmetic, except mere steps, sums, products and
     * maxima. */
    uint32_t other_n;
    /* Carried chains of either kind that the outer loop initialises at each entry. */
    uint32_t begun_n;
    uint32_t exit_n; /* branches that depend on loaded data or on values computed from it */
};

/*
 * Counts the chains of `loop`, which has one path; `streams` are its memory streams. A chain is a
 * set of instructions that need each other's results, from this or an earlier iteration. It is a
 * strongly connected component of the dependences through registers and memory. Errors: NOMEM.
 */
int as_quality_chains(const struct as_program *program, uint32_t loop,
                      const struct as_streams *streams, struct as_chains *out,
                      struct as_error *err);

#endif
