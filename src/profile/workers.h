/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the bodies of OpenMP regions and tasks on the stacks of worker threads. Their only caller
 * there is the runtime. It also finds the frames where the program calls the same function through
 * the runtime. path.c chooses the caller of a body.
 */
#ifndef AS_PROFILE_WORKERS_H
#define AS_PROFILE_WORKERS_H

#include "profile/attribute.h"

struct as_workers {
    uint32_t *region; /* by node of a body on a worker's stack: first node of its function that the
                         program calls through the runtime; else 0 */
    uint32_t *next;   /* by node: the next node of that function; 0 = end */
};

/* Fills `out`, which the caller releases with as_workers_fini. Errors: NOMEM. */
int as_workers_find(const struct as_attribution *all, struct as_workers *out);
void as_workers_fini(struct as_workers *workers);

#endif
