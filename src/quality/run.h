/* SPDX-License-Identifier: Apache-2.0 */
/* What the pass over the code of a run knows: run.c finds and reads it, run_write.c writes it. */
#ifndef AS_QUALITY_RUN_H
#define AS_QUALITY_RUN_H

#include <assay/quality.h>

#include "base/arena.h"
#include "base/vec.h"
#include "quality/callee.h"
#include "quality/core_detail.h"
#include "quality/cqa_write.h"
#include "quality/spots.h"
#include "quality/straight.h"
#include "quality/weights.h"

struct as_quality_module {
    int64_t id;
    double share;
    struct assay_catalogue_module *code; /* NULL: has no loops to read */
};

struct as_quality_hot_loop {
    int64_t id;
    uint64_t address;
    uint32_t depth;
    bool wants_values, wants_page;  /* page: hot enough for tables behind its figures */
    bool wants_cqa;                 /* hot, and no loop inside: of this run */
    bool wants_branches;            /* hot: samples behind its branches, of this run */
    struct as_block_samples *block; /* where its samples fell, for ways through it */
    size_t block_n;
    bool counted; /* these are no samples but how often they ran */
    struct as_cqa_kept cqa;
    struct as_core_kept core;
    const struct assay_program *program;
    const struct assay_object *object;
    uint32_t at;                   /* in `program` */
    struct assay_loop_facts facts; /* where it wants values */
    struct as_quality_calls calls; /* so, too */
};

/* A function that takes its time outside loops, and whose code can be read. */
struct as_quality_straight_part {
    int64_t id;
    struct as_straight_facts facts;
};

/* A function: `n` of its `of_n` samples fell at copies of blocks. */
struct as_quality_copying {
    int64_t function_id, n, of_n;
};

struct as_quality_pass {
    struct assay_experiment *experiment;
    int64_t run_id;
    const struct assay_quality_options *options;
    struct assay_catalogue *catalogue;
    AS_VEC(struct as_quality_module) module;
    AS_VEC(struct as_quality_hot_loop) loop; /* whose code can be read */
    AS_VEC(struct as_quality_straight_part) straight;
    AS_VEC(struct as_spot) spot; /* in loops; those of a function are neighbours, by instruction */
    AS_VEC(struct as_quality_copying) copying;
    double mispredicted_cy;    /* what a misprediction adds on this core; 0: not known */
    struct as_arena arena;     /* of what is kept of code quality analysis */
    struct assay_error unread; /* why what was measured of this core is not used; else empty */
};

/* Within a batch. Errors: those of the experiment; INTERNAL: a metric is not in data/quality. */
int as_quality_pass_write(const struct as_quality_pass *pass, struct assay_error *err);

#endif
