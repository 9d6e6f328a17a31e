/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds constants that general registers hold at the start of each block on every path. Compilers
 * move addresses of jump tables out of loops into such registers.
 */
#ifndef AS_CODE_CONSTANTS_H
#define AS_CODE_CONSTANTS_H

#include "code/internal.h"

struct as_constants {
    struct as_constants_block {
        uint16_t known;   /* bit mask of registers that hold `value` */
        uint16_t varying; /* bit mask of registers without one constant; a bit in neither mask: no
                             path seen yet */
        uint64_t value[16];
    } * block; /* per block of the flow */
    const struct as_flow *flow;
    const struct as_builder *b;
};

/* Finds the constants of all blocks. `arena` owns the result. Returns 0 or AS_ERR_NOMEM. */
int as_constants_find(const struct as_builder *b, const struct as_flow *flow,
                      struct as_arena *arena, struct as_constants *out);

/* Sets `value` to the constant that `reg` holds before instruction `insn` (index into the sweep).
 * Returns false if the register holds no known constant. */
bool as_constant_at(const struct as_constants *constants, size_t insn, uint8_t reg,
                    uint64_t *value);

#endif
