/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds reaching definitions of registers and flags over one iteration and into the next. They are
 * the instructions that may have written the values an instruction reads. On a path each read has
 * one writer. In a set of blocks the writers are sets, which join where paths merge.
 */
#ifndef AS_CODE_REACH_H
#define AS_CODE_REACH_H

#include "base/vec.h"
#include "code/steps.h"

typedef AS_VEC(struct as_dependence) as_dependence_vec;

enum {
    AS_THINGS = AS_REG_COUNT + 8, /* registers, then one thing for each flag bit */
    AS_WRITERS_MOST = AS_DEPENDENCE_WRITERS
};

typedef AS_VEC(uint32_t) as_set_pool;

struct as_reach {
    const struct as_steps *steps;
    struct as_arena *arena;
    uint32_t exposed;         /* number for "not written in this iteration yet" */
    uint32_t things;          /* number of registers and flags that are written */
    uint8_t dense[AS_THINGS]; /* dense number of each thing, or UINT8_MAX */
    uint32_t *out;            /* per block of the view and thing: set at the end of the block */
    uint32_t *in;      /* per block and thing: set at the start of the block; NULL on a path */
    bool walked;       /* `in` is known */
    uint32_t *now;     /* per thing: set at the current instruction */
    uint32_t *carried; /* per thing: set at the end of the iteration */
    as_set_pool pool;  /* sets: count, then elements in ascending order */
    bool limited;      /* a set was reduced to the last AS_WRITERS_MOST writers */
};

/* Starts an analysis of `steps`. `r` is all zero or holds an earlier analysis; the function uses
 * its memory again. Returns 0 or AS_ERR_NOMEM; the caller calls as_reach_fini in both cases. */
int as_reach_start(struct as_reach *r, const struct as_steps *steps, struct as_arena *arena);
void as_reach_fini(struct as_reach *r);

/* Walk the view: as_reach_enter starts each block in order, as_reach_step passes its instructions
 * in order. Each step appends the dependences of its instruction, unordered. Both return 0 or
 * AS_ERR_NOMEM. */
int as_reach_enter(struct as_reach *r, uint32_t block);
int as_reach_step(struct as_reach *r, uint32_t step, as_dependence_vec *out);

#endif
