/* SPDX-License-Identifier: Apache-2.0 */
/* State of the pass over the code of a run: run.c finds and reads the code, run_write.c writes. */
#ifndef AS_QUALITY_RUN_H
#define AS_QUALITY_RUN_H

#include "base/arena.h"
#include "base/vec.h"
#include "quality/callee.h"
#include "quality/core_detail.h"
#include "quality/cqa_write.h"
#include "quality/quality.h"
#include "quality/spots.h"
#include "quality/straight.h"
#include "quality/weights.h"

struct as_quality_module {
    int64_t id;
    double share;
    struct as_catalogue_module *code; /* NULL until a loop or a sample needs it */
};

struct as_quality_hot_loop {
    int64_t id;
    uint64_t address;
    uint32_t depth;
    bool wants_values, wants_page;  /* page: hot enough for tables on its page */
    bool wants_cqa;                 /* hot in this run, and innermost */
    bool wants_branches;            /* hot in this run: samples after its branches count */
    struct as_block_samples *block; /* samples by block, for weights of paths */
    size_t block_n;
    bool counted; /* `block` has exact counts, not samples */
    struct as_cqa_kept cqa;
    struct as_core_kept core;
    const struct as_program *program;
    const struct as_object *object;
    uint32_t at;                   /* number of the loop in `program` */
    struct as_loop_facts facts;    /* set if wants_values */
    struct as_quality_calls calls; /* set if wants_values */
};

/* A function with time outside loops and with readable code. */
struct as_quality_straight_part {
    int64_t id;
    struct as_straight_facts facts;
};

/* A function: `n` of its `of_n` samples are at block copies. */
struct as_quality_copying {
    int64_t function_id, n, of_n;
};

struct as_quality_pass {
    struct as_experiment *experiment;
    int64_t run_id;
    const struct as_quality_options *options;
    struct as_catalogue *catalogue;
    AS_VEC(struct as_quality_module) module;
    AS_VEC(struct as_quality_hot_loop) loop; /* loops with readable code */
    AS_VEC(struct as_quality_straight_part) straight;
    AS_VEC(struct as_spot) spot; /* in loops; grouped by function, ascending by instruction */
    AS_VEC(struct as_quality_copying) copying;
    double mispredicted_cy; /* cycles of a misprediction on this core; 0 if unknown */
    struct as_arena arena;  /* owns the results of code quality analysis */
    struct as_error unread; /* reason why measured figures of this core are not used, or empty */
};

/* Writes the results of the pass. Call it within a batch. Errors: those of the experiment; INTERNAL
 * if a metric is not in data/quality. */
int as_quality_pass_write(const struct as_quality_pass *pass, struct as_error *err);

#endif
