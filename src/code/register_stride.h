/* SPDX-License-Identifier: Apache-2.0 */
/* Strides that registers hold, and strides behind a base that registers hold. */
#ifndef AS_CODE_REGISTER_STRIDE_H
#define AS_CODE_REGISTER_STRIDE_H

#include <assay/code.h>

#include "code/evaluate.h"

/* The stride of a steady access as a sum of registers; false, and `out->n` is 0: it is none. */
bool as_register_stride_find(struct as_evaluation *e, const struct as_access *access,
                             struct assay_register_stride *out);

/* The stride of an access if one register holds one value; false, and `out->reg` is NONE: the rest
 * of the address has no known step. */
bool as_based_find(const struct as_evaluation *e, const struct as_access *access,
                   struct assay_based_stride *out);

/* From the instruction at `first` to that at `last`, all of one block, nothing changes a register
 * of the address. */
void as_register_stride_window(const struct as_evaluation *e, const struct as_access *access,
                               uint64_t *first, uint64_t *last);

/* True if a sample anywhere in the loop has the address of a walking access, or of an iteration
 * beside. One register of the address steps, once in an iteration. */
bool as_register_stride_nearby(const struct as_evaluation *e, const struct as_access *access);

/* True when no instruction of the loop, or of a loop inside it, writes the register. */
bool as_register_stays(const struct as_evaluation *e, unsigned reg);

#endif
