/* SPDX-License-Identifier: Apache-2.0 */
/* Strides that registers hold. */
#ifndef AS_CODE_HELD_H
#define AS_CODE_HELD_H

#include <assay/code.h>

#include "code/evaluate.h"

/* The stride of a steady access as a sum of registers; false, and `out->n` is 0: it is none. */
bool as_held_find(struct as_evaluation *e, const struct as_access *access,
                  struct assay_held_stride *out);

#endif
