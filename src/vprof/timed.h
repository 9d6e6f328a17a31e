/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the room share: the loops that were chosen, and a run with clones of them. */
#ifndef AS_VPROF_TIMED_H
#define AS_VPROF_TIMED_H

#include <assay/vprof.h>

#include "campaign/internal.h"
#include "patch/patch.h"
#include "vprof/clock.h"
#include "vprof/instances.h"

struct as_collector_kind;

struct as_timed_loop {
    struct assay_vprof_loop it;
    uint32_t number;  /* in the plan; ASSAY_NONE: refused */
    unsigned refusal; /* as_patch_refusal */
};

struct as_timed {
    struct assay_experiment *experiment;
    const struct assay_vprof_request *request;
    struct as_input input; /* the same for every run */
    int64_t run_id;        /* whose loops they are */
    double wall_ns;        /* of that run */
    char program[4096];    /* whose loops are hot; "": not known */
    AS_VEC(struct as_timed_loop) loop;
};

/* ---- choose.c ---- */

/* The hot loops of the run, most time first. */
int as_timed_choose(struct as_timed *timed, struct assay_error *err);
/* A plan for them, by as_alloc; `*bytes` is NULL where none of them can be timed. */
int as_timed_plan(struct as_timed *timed, const struct as_patch_wish *wish, uint8_t **bytes,
                  size_t *n, struct assay_error *err);

/* ---- collect.c ---- */

/* A run with these sources of observation, whose output goes into the experiment. */
int as_timed_record(const struct as_timed *timed, const struct as_collector_kind *const *kinds,
                    const struct assay_profile_request *request,
                    struct assay_profile_result *result, struct assay_error *err);

/* Runs the program with the plan. `*instances` borrows the plan. */
int as_timed_run(const struct as_timed *timed, const uint8_t *plan, size_t plan_n,
                 struct as_instances *instances, struct assay_profile_result *result,
                 struct assay_error *err);

/* ---- write.c ---- */

int as_timed_write(const struct as_timed *timed, uint32_t every, struct assay_error *err);

#endif
