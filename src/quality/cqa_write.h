/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code quality analysis of the hot loops of a run: kept while code is read, then written as a set
 * of metrics (v_set_cqa: the mean, each path, each variant) and as tables on the page of the loop.
 */
#ifndef AS_QUALITY_CQA_WRITE_H
#define AS_QUALITY_CQA_WRITE_H

#include <assay/quality.h>

#include "base/arena.h"

/* What the pass is called, where it speaks. */
#define AS_QUALITY_PASS "quality"

/* What is kept of a loop; all memory is the arena's. */
struct as_cqa_kept {
    bool is_there;
    size_t path_n;                 /* told apart; 0 with merged or a single way */
    double *mean, **path, *weight; /* weight: share of the iterations by path */
    struct assay_cqa_what_if what_if[ASSAY_CQA_VARIANTS];
    double best_x; /* of the sound variants */
    double promise_cy;
};

/* Number of the path with the greatest weight, from 0. */
size_t as_cqa_heaviest(const struct assay_cqa *cqa);
int as_cqa_keep(struct as_arena *arena, const struct assay_cqa *cqa, struct as_cqa_kept *out,
                struct assay_error *err);

struct as_cqa_writer {
    struct assay_experiment *experiment;
    int64_t run_id;
    struct assay_metric_set *set;
};
/* Opens the set; within a batch. */
int as_cqa_writer_open(struct assay_experiment *experiment, int64_t run_id,
                       struct as_cqa_writer *out, struct assay_error *err);
int as_cqa_write(struct as_cqa_writer *writer, int64_t loop_id, const struct as_cqa_kept *kept,
                 struct assay_error *err);
void as_cqa_writer_close(struct as_cqa_writer *writer);

#endif
