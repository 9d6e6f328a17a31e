/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the room: the modules with counted code, and the chosen objects. */
#ifndef AS_COUNT_COUNTED_H
#define AS_COUNT_COUNTED_H

#include "campaign/internal.h"
#include "count/count.h"
#include "count/records.h"
#include "patch/patch.h"
#include "vprof/instances.h"

#define AS_COUNT_PASS "count"

/* A basic block that ran. */
struct as_counted_block {
    uint32_t block; /* index in the code of the module */
    uint64_t runs;
};

struct as_counted_module {
    int64_t id;
    bool is_executable;
    struct as_catalogue_module *code;
    uint32_t planned; /* index in the plan; AS_NONE if nothing of it is counted */
    bool *body,
        *loop; /* wanted bodies; wanted loops, alone or if the body cannot be patched whole */
    uint8_t *refusal;                    /* reason for each refused body */
    struct as_patch_verdict *verdict;    /* one for each loop */
    uint32_t *body_object, *loop_object; /* index of the object, or AS_NONE */
    AS_VEC(struct as_counted_block) ran;
};

struct as_counted_object {
    struct as_count_object it;
    uint32_t module;          /* index in as_block_counting.module */
    uint32_t number;          /* index of the body or loop in the code of the module */
    uint32_t region;          /* region of the plan, or AS_NONE */
    double group_share;       /* share of time of the function that contains the loop */
    uint32_t group, position; /* numbers, in order of creation, of its function and of itself */
};

struct as_level_traffic;

struct as_block_counting {
    struct as_experiment *experiment;
    struct as_catalogue *catalogue;
    const struct as_count_request *request;
    int64_t run_id;     /* run with the profile of the code */
    char program[4096]; /* path of the executable, if any of its code is counted; otherwise "" */
    AS_VEC(struct as_counted_module) module;
    AS_VEC(struct as_counted_object) object;
    struct as_level_traffic *traffic; /* NULL without cache levels */
};

/* ---- choose.c ---- */

/* Chooses modules and objects. Errors: USAGE (invalid expression), NOMEM, errors of rows. */
int as_counting_choose(struct as_block_counting *counting, struct as_error *err);

/* ---- plan.c ---- */

/* Makes the plan and the objects. The caller frees `*bytes`; NULL if nothing can be counted. */
int as_counting_plan(struct as_block_counting *counting, uint8_t **bytes, size_t *n,
                     struct as_error *err);

/* ---- sum.c ---- */

/* Sums what each object executed from the counters of the plan. */
int as_counting_sum(struct as_block_counting *counting, const struct as_instances *all,
                    struct as_error *err);

/* ---- write.c ---- */

/* Writes all counts and the result of the run. Sets the share of refused time in `result`. */
int as_counting_write(struct as_block_counting *counting, struct as_count_result *result,
                      struct as_error *err);

/* ---- run.c ---- */

/* Returns the time in refused functions and loops as a share of the time in all chosen ones. */
double as_counting_refused(struct as_block_counting *counting);

#endif
