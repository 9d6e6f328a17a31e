/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of instructions of a path that need each other's results. */
#ifndef AS_QUALITY_COMPONENTS_H
#define AS_QUALITY_COMPONENTS_H

#include "code/code.h"

struct as_components {
    uint32_t *of; /* by instruction of the path: number of its set, from 0 */
    uint32_t n;
};

/*
 * Finds the strongly connected components of the dependences for which `counts` returns true. The
 * caller frees `out->of` with as_free. Returns 0 or AS_ERR_NOMEM, without a message.
 */
int as_components_find(const struct as_dependences *found,
                       bool (*counts)(const void *context, const struct as_dependence *d),
                       const void *context, struct as_components *out);

#endif
