/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code quality analysis of the hot loops of a run. Results are kept while code is analysed. Later
 * they are written as a metric set (v_set_cqa: the mean, each path, each variant) and as tables on
 * the page of the loop.
 */
#ifndef AS_QUALITY_CQA_WRITE_H
#define AS_QUALITY_CQA_WRITE_H

#include "base/arena.h"
#include "quality/quality.h"

/* Name of the pass in the experiment. */
#define AS_QUALITY_PASS "quality"

/* Results of a loop; the arena owns all memory. */
struct as_cqa_kept {
    bool is_there;
    size_t path_n;                 /* 0 if paths are merged or if there is one path */
    double *mean, **path, *weight; /* weight: share of the iterations by path */
    struct as_cqa_what_if what_if[AS_CQA_VARIANTS];
    double best_x; /* speed-up of the best variant; 1 if none gains */
    double promise_cy;
};

/* Returns the number of the path with the greatest weight, from 0. */
size_t as_cqa_heaviest(const struct as_cqa *cqa);
int as_cqa_keep(struct as_arena *arena, const struct as_cqa *cqa, struct as_cqa_kept *out,
                struct as_error *err);

struct as_cqa_writer {
    struct as_experiment *experiment;
    int64_t run_id;
    struct as_metric_set *set;
};
/* Opens the metric set. Call it within a batch. */
int as_cqa_writer_open(struct as_experiment *experiment, int64_t run_id, struct as_cqa_writer *out,
                       struct as_error *err);
int as_cqa_write(struct as_cqa_writer *writer, int64_t loop_id, const struct as_cqa_kept *kept,
                 struct as_error *err);
void as_cqa_writer_close(struct as_cqa_writer *writer);

#endif
