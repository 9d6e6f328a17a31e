/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a pipeline: its passes, grouped into waves. Passes of a wave do not depend on each
 * other and run concurrently. A pass that starts the program has its own wave. The plan follows
 * from the table alone, never from the time that passes take.
 */
#ifndef AS_PIPELINE_PLAN_H
#define AS_PIPELINE_PLAN_H

#include "base/str.h"
#include "pipeline/pipeline.h"

#define AS_PLAN_FACTS_MOST 64

struct as_step {
    const struct as_pass *pass;
    uint64_t needs, uses, makes; /* one bit per fact */
    unsigned wave;               /* from 0; never decreases from step to step */
};

struct as_pass_plan {
    struct as_view fact[AS_PLAN_FACTS_MOST]; /* names of facts; borrowed from the passes */
    size_t fact_n;
    uint64_t there; /* bits of facts that are known before the first wave */
    struct as_step step[AS_PIPELINE_PASSES_MAX];
    size_t step_n;
};

/*
 * Plans the passes up to `level` that make a fact which is not in `there`, or that make no fact. A
 * pass with a need that no pass makes is not an error: it is in the plan, and cannot run. Errors:
 * INTERNAL (passes that wait for each other; the message names them), LIMIT.
 */
int as_plan_make(const struct as_pass *pass, size_t pass_n, int level, const char *there,
                 struct as_pass_plan *plan, struct as_error *err);

/* Returns the name of the lowest bit in `facts`. */
struct as_view as_plan_fact(const struct as_pass_plan *plan, uint64_t facts);

#endif
