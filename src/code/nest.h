/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds dominators and loops of one body by the numbers of its own blocks. The program's tables get
 * the result later.
 */
#ifndef AS_CODE_NEST_H
#define AS_CODE_NEST_H

#include "code/internal.h"

struct as_nest_loop {
    uint32_t header; /* block of the flow */
    uint32_t parent; /* loop of the nest or AS_NONE; it precedes its children */
    uint32_t depth;  /* 1 = outermost */
    uint32_t blocks; /* number of blocks, with those of inner loops unless the loop is OUTSIZE */
    uint8_t bits;    /* as_loop_bits known so far */
};

struct as_nest {
    uint32_t *idom, *ipdom; /* per block; AS_NONE if there is none */
    uint32_t *loop_of;      /* per block: innermost loop or AS_NONE */
    /* Per block: the loop with this block as the target of its back edges, or AS_NONE. */
    uint32_t *heads;
    struct as_nest_loop *loop;
    uint32_t loops;
};

/* Finds dominators and loops of `flow`. `keep` owns the result; the caller may empty `scratch`
 * afterwards. Returns 0 or AS_ERR_NOMEM. */
int as_nest_make(const struct as_builder *b, const struct as_flow *flow, struct as_arena *scratch,
                 struct as_arena *keep, struct as_nest *out);

/*
 * Merges loops of the binary that the source does not have into the loop around them. These are
 * inner loops made by `continue`, and loops that repeat one gather or scatter until its mask is
 * empty. A merged loop gets the header AS_NONE. as_nest_make calls this function.
 */
void as_nest_simplify(const struct as_builder *b, const struct as_flow *flow, struct as_nest *nest);

/* Merges loops between the targets of one jump table that several jumps share into the loop around
 * them. as_nest_make calls this function before as_nest_simplify. A merged loop gets the header
 * AS_NONE. Sets `*any` if a loop was merged. Returns 0 or AS_ERR_NOMEM. */
int as_nest_merge_dispatch(const struct as_flow *flow, struct as_arena *arena, struct as_nest *nest,
                           bool *any);

/* Returns true if `block` is in `loop` or in one of its inner loops. Takes O(depth) steps. */
bool as_nest_holds(const struct as_nest *nest, uint32_t loop, uint32_t block);

#endif
