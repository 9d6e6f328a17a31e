/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds values that pass through memory. Each load gets the stores that provably wrote its bytes,
 * in the same iteration or up to AS_DISTANCE_MOST iterations before. The latest store comes first
 * and hides earlier ones. The analysis assumes that stores to incomparable addresses do not
 * interfere.
 */
#ifndef AS_CODE_FORWARD_H
#define AS_CODE_FORWARD_H

#include "code/evaluate.h"
#include "code/reach.h"

enum { AS_DISTANCE_MOST = AS_DEPENDENCE_DISTANCE };

struct as_store;

struct as_forward {
    const struct as_evaluation *e;
    struct as_arena *arena;
    struct as_store *store; /* sorted by term, place in the step, iteration, time */
    uint32_t n;
    uint32_t widest_b;
    uint32_t *calls; /* per step: number of calls before it; NULL if the loop has no call */
    bool *always;    /* per block of the view: the block is on every path */
    uint32_t *seen;  /* per block of the view: number of the last search that visited it */
    uint32_t *work;
    uint32_t searches;
    size_t next;    /* index of the next access */
    uint32_t block; /* block of the view that has the next access */
};

/* Prepares `f` for the steps of `e`. Returns 0 or AS_ERR_NOMEM. */
int as_forward_init(struct as_forward *f, const struct as_evaluation *e, struct as_arena *arena);

/* Appends the dependences of the loads of `step`. The caller passes the steps in ascending order.
 * Returns 0 or AS_ERR_NOMEM. */
int as_forward_step(struct as_forward *f, uint32_t step, as_dependence_vec *out);

#endif
