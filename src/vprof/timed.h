/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the room share: the loops that were chosen, and a run with clones of them. */
#ifndef AS_VPROF_TIMED_H
#define AS_VPROF_TIMED_H

#include <assay/vprof.h>

#include "campaign/internal.h"
#include "patch/patch.h"
#include "vprof/clock.h"
#include "vprof/instances.h"

#define AS_VPROF_PASS "vprof"

struct as_collector_kind;

struct as_timed_loop {
    struct assay_vprof_loop it;
    uint32_t number;                    /* in the plan; ASSAY_NONE: refused */
    unsigned refusal;                   /* as_patch_refusal */
    uint8_t unvaried[AS_VARIANT_KINDS]; /* variants: as_variant_refusal of each kind */
    bool left_out;                      /* of the next plan */
};

struct as_timed {
    struct assay_experiment *experiment;
    const struct assay_vprof_request *request;
    struct as_input input; /* the same for every run */
    int64_t run_id;        /* whose loops they are */
    double wall_ns;        /* of that run */
    double pilot;          /* share that the pilot took more than that run; below 0: not known */
    double fences;         /* as_period; 0: not known */
    double took;           /* as `pilot`, of the last run */
    struct as_tick tick;   /* measured before the first run that times */
    uint64_t first;        /* ticks when the first of its threads began in the run that timed */
    char program[4096];    /* whose loops are hot; "": not known */
    AS_VEC(struct as_timed_loop) loop;
};

/* ---- choose.c ---- */

/* The hot loops of the run, most time first. */
int as_timed_choose(struct as_timed *timed, struct assay_error *err);
/* A plan for them, by as_alloc; `*bytes` is NULL where none of them can be timed. */
int as_timed_plan(struct as_timed *timed, const struct as_patch_wish *wish, uint8_t **bytes,
                  size_t *n, struct assay_error *err);

/* ---- write.c, write_paths.c, write_run.c ---- */

/* All that is in `result`. */
int as_timed_write(const struct as_timed *timed, const struct assay_vprof_result *result,
                   struct assay_error *err);
/* Of the run: what timing cost, and what it missed. */
int as_timed_write_run(const struct as_timed *timed, const struct assay_vprof_result *result,
                       struct assay_error *err);
/* How often a loop was entered, and its header ran: counted, or estimated. */
int as_timed_write_totals(const struct as_timed *timed, const struct assay_vprof_loop *loop,
                          struct assay_error *err);
/* By which calls the loop was come to, by iterations. */
int as_timed_write_paths(const struct as_timed *timed, const struct assay_vprof_loop *loop,
                         struct assay_error *err);
/* Instances in the order of time. */
int as_timed_write_line(const struct as_timed *timed, const struct assay_vprof_loop *loop,
                        struct assay_error *err);

#endif
