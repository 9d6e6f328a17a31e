/* SPDX-License-Identifier: Apache-2.0 */
/* What an iteration of a loop of one way hands on to the next. */
#ifndef AS_QUALITY_CHAINS_H
#define AS_QUALITY_CHAINS_H

#include <assay/code.h>

struct as_chains {
    uint32_t fp_n;    /* chains of floating-point arithmetic */
    uint32_t sum_n;   /* of them: only add up, or only multiply */
    uint32_t other_n; /* chains without such: neither steps nor sums, products, maxima */
    uint32_t begun_n; /* of both: the loop around begins them anew for each entry */
    uint32_t exit_n;  /* branches that depend on what was loaded or computed from it */
};

/*
 * A chain is a set of instructions of which each needs each other's result, of this iteration or of
 * one before (a strongly connected component of the dependences); through moves and memory, too.
 * `loop` has one way; `streams` are its own. Errors: NOMEM.
 */
int as_quality_chains(const struct assay_program *program, uint32_t loop,
                      const struct assay_streams *streams, struct as_chains *out,
                      struct assay_error *err);

#endif
