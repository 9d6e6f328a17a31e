/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps that tie loops to their source: lines and inlining, then groups and roles of the
 * binary loops of one source loop, then how many source iterations one binary iteration does.
 */
#ifndef AS_CODE_SOURCE_H
#define AS_CODE_SOURCE_H

#include "code/internal.h"

/* Source ranges and inlining level of the loops of `body`; ranges are appended to `ranges` and
 * counted in the loops, whose `source` is relative to it. 0 or ASSAY_ERR_NOMEM. */
typedef AS_VEC(struct assay_source_range) as_source_ranges;
int as_source_lines(struct assay_program *program, uint32_t body, as_source_ranges *ranges);

/* Groups and roles of the loops of `body`. 0 or ASSAY_ERR_NOMEM. */
int as_source_groups(struct assay_program *program, uint32_t body, struct as_arena *arena);

/* What one iteration of a loop does outside its inner loops. */
struct as_loop_work {
    uint32_t loads_b, stores_b; /* bytes of the accesses that are not to the stack */
    uint32_t accesses;
    uint32_t flops;    /* floating-point operations, all lanes */
    uint32_t intops;   /* integer operations of vector instructions, all lanes */
    uint16_t vector_b; /* widest packed arithmetic, else widest packed access; 0 = scalar */
    uint16_t lanes;    /* of it */
};
struct as_loop_work as_source_work(const struct assay_program *program, uint32_t loop);

/* Unroll factors of the loops of `body`, after grouping. 0 or ASSAY_ERR_NOMEM. */
int as_source_unroll(struct assay_program *program, uint32_t body, struct as_arena *arena);

#endif
