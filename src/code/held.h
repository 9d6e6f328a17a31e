/* SPDX-License-Identifier: Apache-2.0 */
/* Strides that registers hold, and strides behind a base that registers hold. */
#ifndef AS_CODE_HELD_H
#define AS_CODE_HELD_H

#include <assay/code.h>

#include "code/evaluate.h"

/* The stride of a steady access as a sum of registers; false, and `out->n` is 0: it is none. */
bool as_held_find(struct as_evaluation *e, const struct as_access *access,
                  struct assay_held_stride *out);

/* The stride of an access if one register holds one value; false, and `out->reg` is NONE: the rest
 * of the address has no known step. */
bool as_based_find(const struct as_evaluation *e, const struct as_access *access,
                   struct assay_based_stride *out);

#endif
