/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often each way through a loop was taken, by where its samples fell: what code quality
 * analysis weighs its ways with.
 */
#ifndef AS_QUALITY_WEIGHTS_H
#define AS_QUALITY_WEIGHTS_H

#include <assay/code.h>

#include "base/arena.h"

struct as_block_samples {
    uint64_t address; /* of the block */
    int64_t n;
};

/*
 * Shares of the iterations by path, in the arena; NULL with a single way, with more than are told
 * apart, and where too few samples tell. Errors: NOMEM.
 */
int as_quality_weights(struct as_arena *arena, const struct assay_program *program, uint32_t loop,
                       const struct as_block_samples *samples, size_t n, double **out,
                       size_t *path_n, struct assay_error *err);

#endif
