/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds paths of a loop for other files of this room. The functions do the same as the public ones,
 * with an existing iteration and the caller's arena.
 */
#ifndef AS_CODE_PATHS_H
#define AS_CODE_PATHS_H

#include "code/iteration.h"

/* Does the same as as_loop_paths. Returns 0, or AS_ERR_NOMEM with an empty `out`. */
int as_paths_of(const struct as_iteration *iteration, unsigned limit, struct as_arena *arena,
                struct as_paths *out);

/* Sets `count` to the number of paths, saturated at UINT64_MAX, without listing them. Returns 0 or
 * AS_ERR_NOMEM. */
int as_loop_path_count(const struct as_program *program, uint32_t loop, struct as_arena *arena,
                       uint64_t *count);

#endif
