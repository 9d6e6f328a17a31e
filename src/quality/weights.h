/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frequencies of the paths of a loop, the weights of code quality analysis. They come from block
 * counts if there are any, else from samples.
 */
#ifndef AS_QUALITY_WEIGHTS_H
#define AS_QUALITY_WEIGHTS_H

#include "base/arena.h"
#include "base/vec.h"
#include "code/code.h"
#include "experiment/experiment.h"
#include "quality/quality.h"

struct as_block_samples {
    uint64_t address; /* address of the block */
    int64_t n;
};

typedef AS_VEC(struct as_block_samples) as_block_list;

struct as_quality_sampled {
    as_block_list block, counted; /* samples of blocks, and execution counts of `assay count` */
    int64_t run_id;
};

/*
 * Reads the samples of the last run by block of a file, and the execution counts of its blocks. The
 * file is the same if its build-id is, else its inode, time and size; its name does not matter. The
 * caller frees `out` with as_quality_sampled_fini. Errors: NOT_FOUND (no run has samples or counts
 * in the file), those of as_rows_open, NOMEM.
 */
int as_quality_sampled_read(struct as_experiment *experiment, const struct as_object *object,
                            struct as_quality_sampled *out, struct as_error *err);
void as_quality_sampled_fini(struct as_quality_sampled *sampled);

/* Sets `*out` to the cycles of an iteration by path, in the arena; NULL if the paths are merged.
 * Errors: NOMEM. */
int as_quality_path_cycles(struct as_arena *arena, struct as_cqa_engine *engine,
                           const struct as_program *program, uint32_t loop, const double **out,
                           struct as_error *err);

/*
 * Sets `*out` to the shares of the iterations by path, in the arena. They come from the execution
 * counts of blocks (`counted`) or from their samples. `cycles` has the cycles of an iteration by
 * path; if it is NULL, all instructions take the same time. `*out` is NULL for a loop with one path
 * or merged paths, or with too few samples. Samples of other blocks are ignored. Errors: NOMEM.
 */
int as_quality_weights(struct as_arena *arena, const struct as_program *program, uint32_t loop,
                       const struct as_block_samples *samples, size_t n, bool counted,
                       const double *cycles, double **out, size_t *path_n, struct as_error *err);

/* Sets `*out` to the shares of the iterations by path, from the code alone, in the arena. Errors:
 * NOMEM. */
int as_quality_static_weights(struct as_arena *arena, const struct as_program *program,
                              uint32_t loop, const struct as_paths *paths, double **out,
                              struct as_error *err);

/* Does the same for a file, from counts if the header of the loop was counted, else from samples.
 * Sets `*counted` accordingly. Errors: NOMEM. */
int as_quality_sampled_weights(struct as_arena *arena, const struct as_quality_sampled *sampled,
                               const struct as_program *program, uint32_t loop,
                               const double *cycles, double **out, size_t *path_n, bool *counted,
                               struct as_error *err);

#endif
