/* SPDX-License-Identifier: Apache-2.0 */
/* Call paths of the instances of a loop that were sampled for them. */
#ifndef AS_VPROF_PATHS_H
#define AS_VPROF_PATHS_H

#include "vprof/instances.h"
#include "vprof/vprof.h"

/*
 * Stores the call paths of a loop for instances with the iterations of the bucket; low 0 and high
 * INFINITY select all. The texts are borrowed from `all`. Errors: NOMEM.
 */
int as_paths_store(const struct as_instances *all, uint32_t loop, struct as_vprof_bucket *bucket,
                   struct as_error *err);
/* Moves the texts of call paths to the result. */
void as_paths_take(struct as_instances *all, struct as_vprof_result *result);

#endif
