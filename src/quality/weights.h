/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often each way through a loop was taken, by how often its blocks ran where that was counted,
 * else by where its samples fell: what code quality analysis weighs its ways with.
 */
#ifndef AS_QUALITY_WEIGHTS_H
#define AS_QUALITY_WEIGHTS_H

#include <assay/code.h>
#include <assay/experiment.h>
#include <assay/quality.h>

#include "base/arena.h"
#include "base/vec.h"

struct as_block_samples {
    uint64_t address; /* of the block */
    int64_t n;
};

typedef AS_VEC(struct as_block_samples) as_block_list;

struct as_quality_sampled {
    as_block_list block, counted; /* samples; how often those ran that `assay count` counted */
    int64_t run_id;
};

/*
 * Where the samples of the last run fell in the blocks of a file, and how often blocks ran that
 * were counted: the same file by its build-id, else by its inode, time and size, whatever its name
 * now. Errors: NOT_FOUND (no run has either in such a file), those of assay_rows_open, NOMEM.
 */
int as_quality_sampled_read(struct assay_experiment *experiment, const struct assay_object *object,
                            struct as_quality_sampled *out, struct assay_error *err);
void as_quality_sampled_fini(struct as_quality_sampled *sampled);

/* Cycles of an iteration by path, in the arena; NULL where paths are not told apart. Errors: NOMEM.
 */
int as_quality_path_cycles(struct as_arena *arena, struct assay_cqa_engine *engine,
                           const struct assay_program *program, uint32_t loop, const double **out,
                           struct assay_error *err);

/*
 * Shares of the iterations by path, in the arena, by how often each block ran (`counted`) or by its
 * samples, an instruction being as long as those of its path are on average (`cycles` of an
 * iteration by path; NULL: all alike); NULL with a single way, with more than are told apart, and
 * where too few samples tell. Samples of other blocks do not matter. Errors: NOMEM.
 */
int as_quality_weights(struct as_arena *arena, const struct assay_program *program, uint32_t loop,
                       const struct as_block_samples *samples, size_t n, bool counted,
                       const double *cycles, double **out, size_t *path_n, struct assay_error *err);

/* Shares of the iterations by path as far as the code alone tells, in the arena. Errors: NOMEM. */
int as_quality_static_weights(struct as_arena *arena, const struct assay_program *program,
                              uint32_t loop, const struct assay_paths *paths, double **out,
                              struct assay_error *err);

/* The same by what is known of the file: by counts where the header of the loop was counted
 * (`*counted`), else by samples. Errors: NOMEM. */
int as_quality_sampled_weights(struct as_arena *arena, const struct as_quality_sampled *sampled,
                               const struct assay_program *program, uint32_t loop,
                               const double *cycles, double **out, size_t *path_n, bool *counted,
                               struct assay_error *err);

#endif
