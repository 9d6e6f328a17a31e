/* SPDX-License-Identifier: Apache-2.0 */
/* Finds strides that registers hold, and bases of strided accesses that registers hold. */
#ifndef AS_CODE_REGISTER_STRIDE_H
#define AS_CODE_REGISTER_STRIDE_H

#include "code/code.h"
#include "code/evaluate.h"

/* Describes the stride of a steady access as a sum of registers. Returns false and sets `out->n` to
 * 0 if it is not such a sum. */
bool as_register_stride_find(struct as_evaluation *e, const struct as_access *access,
                             struct as_register_stride *out);

/* Finds the stride of an access with one unknown part in one register. Returns false and sets
 * `out->reg` to AS_REG_NONE if the rest of the address has no known step. */
bool as_based_find(const struct as_evaluation *e, const struct as_access *access,
                   struct as_based_stride *out);

/* Sets `first` and `last` to the addresses of two instructions in one block. No instruction between
 * them changes a register of the address of `access`. */
void as_register_stride_window(const struct as_evaluation *e, const struct as_access *access,
                               uint64_t *first, uint64_t *last);

/* Returns true if a sample anywhere in the loop can stand for a sample at the access: its registers
 * give the address of this iteration or an adjacent one. At most one instruction of the loop may
 * change these registers. */
bool as_register_stride_nearby(const struct as_evaluation *e, const struct as_access *access);

/* Returns true if no instruction of the loop or of its inner loops writes the register. */
bool as_register_stays(const struct as_evaluation *e, unsigned reg);

#endif
