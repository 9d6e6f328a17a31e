/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constants that general registers hold at the start of each block of a body, on every way there:
 * addresses of jump tables that the compiler moved out of loops.
 */
#ifndef AS_CODE_CONSTANTS_H
#define AS_CODE_CONSTANTS_H

#include "code/internal.h"

struct as_constants {
    struct as_constants_block {
        uint16_t known;   /* registers that hold `value` */
        uint16_t varying; /* registers that hold none; neither: no way here was seen yet */
        uint64_t value[16];
    } * block; /* per block of the flow */
    const struct as_flow *flow;
    const struct as_builder *b;
};

/* Finds them; memory from `arena`. 0 or ASSAY_ERR_NOMEM. */
int as_constants_find(const struct as_builder *b, const struct as_flow *flow,
                      struct as_arena *arena, struct as_constants *out);

/* The constant that `reg` holds before instruction `insn` (index into the sweep). */
bool as_constant_at(const struct as_constants *constants, size_t insn, uint8_t reg,
                    uint64_t *value);

#endif
