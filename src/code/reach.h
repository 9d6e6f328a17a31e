/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reaching definitions of registers and flags over one iteration and into the next: which
 * instructions may have written what an instruction reads. On a path each read has one writer; on a
 * set of blocks the writers are sets that are joined where ways meet.
 */
#ifndef AS_CODE_REACH_H
#define AS_CODE_REACH_H

#include "base/vec.h"
#include "code/steps.h"

typedef AS_VEC(struct assay_dependence) as_dependence_vec;

enum {
    AS_THINGS = ASSAY_REG_COUNT + 8, /* registers, then one thing for each flag bit */
    AS_WRITERS_MOST = ASSAY_DEPENDENCE_WRITERS
};

typedef AS_VEC(uint32_t) as_set_pool;

struct as_reach {
    const struct as_steps *steps;
    struct as_arena *arena;
    uint32_t exposed;         /* number that stands for "not written in this iteration yet" */
    uint32_t things;          /* written ones, numbered densely */
    uint8_t dense[AS_THINGS]; /* or UINT8_MAX */
    uint32_t *out;            /* per block of the view and thing: set at the end */
    uint32_t *in;             /* per block and thing: set at the start, where ways meet; or NULL */
    bool walked;              /* `in` is known */
    uint32_t *now;            /* per thing: set where the walk stands */
    uint32_t *carried;        /* per thing: set at the end of the iteration */
    as_set_pool pool;         /* sets: count, elements ascending */
    bool limited;             /* a set was cut to the last AS_WRITERS_MOST writers */
};

/* `r`: all zero, or of a walk before, whose memory is used again. 0 or ASSAY_ERR_NOMEM; in both
 * cases as_reach_fini releases. */
int as_reach_start(struct as_reach *r, const struct as_steps *steps, struct as_arena *arena);
void as_reach_fini(struct as_reach *r);

/* Walk: enter each block of the view in order, then step through its instructions in order; each
 * step appends the dependences of that instruction, unordered. 0 or ASSAY_ERR_NOMEM. */
int as_reach_enter(struct as_reach *r, uint32_t block);
int as_reach_step(struct as_reach *r, uint32_t step, as_dependence_vec *out);

#endif
