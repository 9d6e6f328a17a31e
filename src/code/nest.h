/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dominators and loops of one body, by the numbers of its own blocks, before they go into the
 * tables of the program.
 */
#ifndef AS_CODE_NEST_H
#define AS_CODE_NEST_H

#include "code/internal.h"

struct as_nest_loop {
    uint32_t header; /* block of the flow */
    uint32_t parent; /* loop of the nest or ASSAY_NONE; stands before its children */
    uint32_t depth;  /* 1 = outermost */
    uint32_t blocks; /* inner loops' included, unless it is OUTSIZE */
    uint8_t bits;    /* assay_loop_bits known so far */
};

struct as_nest {
    uint32_t *idom, *ipdom; /* per block, ASSAY_NONE when none */
    uint32_t *loop_of;      /* per block: innermost loop or ASSAY_NONE */
    uint32_t *heads; /* per block: loop that an edge to it from inside goes back in, or NONE */
    struct as_nest_loop *loop;
    uint32_t loops;
};

/* Finds them for `flow`, in memory of `keep`; `scratch` may be emptied after. 0 or NOMEM. */
int as_nest_make(const struct as_builder *b, const struct as_flow *flow, struct as_arena *scratch,
                 struct as_arena *keep, struct as_nest *out);

/*
 * Loops of the binary that are no loops of the source become part of the loop around them: inner
 * loops made by `continue`, and loops that repeat one gather or scatter until its mask is empty.
 * Marks them gone by `header` = ASSAY_NONE. Called by as_nest_make.
 */
void as_nest_simplify(const struct as_builder *b, const struct as_flow *flow, struct as_nest *nest);

/* Before that: loops between the targets of one jump table, which several jumps use, become part of
 * the loop around them; marks them so. `*any`: there were some. 0 or NOMEM. */
int as_nest_merge_dispatch(const struct as_flow *flow, struct as_arena *arena, struct as_nest *nest,
                           bool *any);

/* True when `block` stands in `loop` of the nest. O(depth). */
bool as_nest_holds(const struct as_nest *nest, uint32_t loop, uint32_t block);

#endif
