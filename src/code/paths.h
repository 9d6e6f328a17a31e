/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of a loop for the rest of the room: the same as the public functions, on an iteration that
 * is there already and with the caller's arena.
 */
#ifndef AS_CODE_PATHS_H
#define AS_CODE_PATHS_H

#include "code/iteration.h"

/* As assay_loop_paths; 0 or ASSAY_ERR_NOMEM (`out` empty). */
int as_paths_of(const struct as_iteration *iteration, unsigned limit, struct as_arena *arena,
                struct assay_paths *out);

/* Number of paths, saturated, without listing them. 0 or ASSAY_ERR_NOMEM. */
int as_loop_path_count(const struct assay_program *program, uint32_t loop, struct as_arena *arena,
                       uint64_t *count);

#endif
