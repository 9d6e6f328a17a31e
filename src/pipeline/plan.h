/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a pipeline: which passes, in which waves. Passes of a wave do not depend on each
 * other and work side by side; one that starts the program is a wave of its own. A plan depends on
 * the table alone, never on what takes how long.
 */
#ifndef AS_PIPELINE_PLAN_H
#define AS_PIPELINE_PLAN_H

#include <assay/pipeline.h>

#include "base/str.h"

#define AS_PLAN_FACTS_MOST 64

struct as_step {
    const struct assay_pass *pass;
    uint64_t needs, uses, makes; /* a bit a fact */
    unsigned wave;               /* from 0, never falling from step to step */
};

struct as_pass_plan {
    struct as_view fact[AS_PLAN_FACTS_MOST]; /* words of the passes, borrowed */
    size_t fact_n;
    uint64_t there; /* known before the first wave */
    struct as_step step[ASSAY_PIPELINE_PASSES_MAX];
    size_t step_n;
};

/*
 * The passes of `level` that make something that is not `there` (words) yet, or nothing by name.
 * What a pass needs and no pass makes is no error: the pass is in the plan, and cannot run. Errors:
 * INTERNAL (passes that wait for each other; the sentence names them), LIMIT.
 */
int as_plan_make(const struct assay_pass *pass, size_t pass_n, int level, const char *there,
                 struct as_pass_plan *plan, struct assay_error *err);

/* The word of the lowest bit of `facts`. */
struct as_view as_plan_fact(const struct as_pass_plan *plan, uint64_t facts);

#endif
