/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of instructions of a path that need each other's results, by those dependences that count.
 */
#ifndef AS_QUALITY_COMPONENTS_H
#define AS_QUALITY_COMPONENTS_H

#include <assay/code.h>

struct as_components {
    uint32_t *of; /* by instruction of the path: which, from 0 */
    uint32_t n;
};

/*
 * The strongly connected components of the dependences for which `counts` holds. `of` is released
 * by as_free. Errors: NOMEM, without a sentence.
 */
int as_components_find(const struct assay_dependences *found,
                       bool (*counts)(const void *context, const struct assay_dependence *d),
                       const void *context, struct as_components *out);

#endif
