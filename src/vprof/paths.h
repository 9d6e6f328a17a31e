/* SPDX-License-Identifier: Apache-2.0 */
/* By which calls instances of a loop were come to, of those whose call path was taken. */
#ifndef AS_VPROF_PATHS_H
#define AS_VPROF_PATHS_H

#include <assay/vprof.h>

#include "vprof/instances.h"

/* Those of a loop with as many iterations as the bucket; with low 0 and high INFINITY all. The
 * texts are those of `all`. Errors: NOMEM. */
int as_paths_store(const struct as_instances *all, uint32_t loop, struct assay_vprof_bucket *bucket,
                   struct assay_error *err);
/* The texts become those of the result. */
void as_paths_take(struct as_instances *all, struct assay_vprof_result *result);

#endif
