/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values passed through memory: for each load the stores that provably wrote the bytes it reads, in
 * the same iteration or up to AS_DISTANCE_MOST before, the latest first and hiding earlier ones.
 * Stores to addresses that cannot be compared are taken not to interfere.
 */
#ifndef AS_CODE_FORWARD_H
#define AS_CODE_FORWARD_H

#include "code/evaluate.h"
#include "code/reach.h"

enum { AS_DISTANCE_MOST = ASSAY_DEPENDENCE_DISTANCE };

struct as_store;

struct as_forward {
    const struct as_evaluation *e;
    struct as_arena *arena;
    struct as_store *store; /* by term, place in the step, iteration, time */
    uint32_t n;
    uint32_t widest_b;
    uint32_t *calls; /* per step: calls before it; NULL when there is none */
    bool *always;    /* per block of the view: on every path */
    uint32_t *seen;  /* per block of the view: search that saw it last */
    uint32_t *work;
    uint32_t searches;
    size_t next;    /* access */
    uint32_t block; /* of the view, that holds it */
};

/* 0 or ASSAY_ERR_NOMEM. */
int as_forward_init(struct as_forward *f, const struct as_evaluation *e, struct as_arena *arena);

/* Appends the dependences of the loads of `step`; steps must come in order. 0 or NOMEM. */
int as_forward_step(struct as_forward *f, uint32_t step, as_dependence_vec *out);

#endif
