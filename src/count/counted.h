/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the room share: the modules whose code is counted, and what of it was chosen.
 */
#ifndef AS_COUNT_COUNTED_H
#define AS_COUNT_COUNTED_H

#include <assay/count.h>

#include "campaign/internal.h"
#include "count/records.h"
#include "patch/patch.h"
#include "vprof/instances.h"

#define AS_COUNT_PASS "count"

/* A block that ran. */
struct as_counted_block {
    uint32_t block; /* of the program */
    uint64_t runs;
};

struct as_counted_module {
    int64_t id;
    bool is_executable;
    struct assay_catalogue_module *code;
    uint32_t planned;  /* its number in the plan; ASSAY_NONE: nothing of it is */
    bool *body, *loop; /* wanted: of the program; loops alone, or where the body cannot be whole */
    uint8_t *refusal;  /* of bodies */
    struct as_patch_verdict *verdict;    /* of loops */
    uint32_t *body_object, *loop_object; /* ASSAY_NONE: none */
    AS_VEC(struct as_counted_block) ran;
};

struct as_counted_object {
    struct assay_count_object it;
    uint32_t module;          /* of the list */
    uint32_t number;          /* of the program: body or loop */
    uint32_t region;          /* of the plan; ASSAY_NONE: in none */
    double group_share;       /* of the function whose loop it is, or its own */
    uint32_t group, position; /* number of that object, and its own, as they were made */
};

struct as_level_traffic;

struct as_counting {
    struct assay_experiment *experiment;
    struct assay_catalogue *catalogue;
    const struct assay_count_request *request;
    int64_t run_id;     /* whose code it is */
    char program[4096]; /* the executable of which something is counted; "": of none */
    AS_VEC(struct as_counted_module) module;
    AS_VEC(struct as_counted_object) object;
    struct as_level_traffic *traffic; /* NULL: not wanted */
};

/* ---- choose.c ---- */

/* Modules, and what of them is wanted. Errors: USAGE (a bad expression), NOMEM, those of rows. */
int as_counting_choose(struct as_counting *counting, struct assay_error *err);

/* ---- plan.c ---- */

/* The plan, by as_alloc, and the objects; `*bytes` is NULL where nothing can be counted. */
int as_counting_plan(struct as_counting *counting, uint8_t **bytes, size_t *n,
                     struct assay_error *err);

/* ---- sum.c ---- */

/* What each object executed, by the counters of the plan. */
int as_counting_sum(struct as_counting *counting, const struct as_instances *all,
                    struct assay_error *err);

/* ---- write.c ---- */

/* All that was counted, and of the run what is in `result`, whose share of refused time it sets. */
int as_counting_write(struct as_counting *counting, struct assay_count_result *result,
                      struct assay_error *err);

/* ---- run.c ---- */

/* Time in functions and loops alone that could not be counted, of that in all that were chosen. */
double as_counting_refused(struct as_counting *counting);

#endif
