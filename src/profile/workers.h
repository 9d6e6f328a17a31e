/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of OpenMP regions and tasks on the stacks of worker threads: they have no caller there but
 * the runtime. Knows which frames they are, and under which frames other stacks show the same
 * functions called by the program. Which caller a body gets is the business of path.c.
 */
#ifndef AS_PROFILE_WORKERS_H
#define AS_PROFILE_WORKERS_H

#include "profile/attribute.h"

struct as_workers {
    uint32_t *region; /* by node: a body on a worker's stack has the first node of its function that
                         the program called through the runtime; else 0 */
    uint32_t *next;   /* by node: the next node of that function; 0 is the end */
};

/* 0 or NOMEM. */
int as_workers_find(const struct as_attribution *all, struct as_workers *out);
void as_workers_fini(struct as_workers *workers);

#endif
