/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the room: the chosen loops, and a run with clones of them. */
#ifndef AS_VPROF_TIMED_H
#define AS_VPROF_TIMED_H

#include "campaign/internal.h"
#include "patch/patch.h"
#include "vprof/clock.h"
#include "vprof/instances.h"
#include "vprof/vprof.h"

#define AS_VPROF_PASS "vprof"

struct as_collector_kind;

struct as_timed_loop {
    struct as_vprof_loop it;
    uint32_t number;                    /* index in the plan; AS_NONE if refused */
    unsigned refusal;                   /* as_patch_refusal */
    uint8_t unvaried[AS_VARIANT_KINDS]; /* as_variant_refusal of each kind of variant */
    bool left_out;                      /* the next plan leaves it out */
};

struct as_timed {
    struct as_experiment *experiment;
    const struct as_vprof_request *request;
    struct as_input input; /* standard input, the same for every run */
    int64_t run_id;        /* run that chose the loops */
    double wall_ns;        /* wall time of that run */
    double pilot;          /* overhead of the pilot as a share of that run; negative if unknown */
    double fences;         /* see as_period; 0 if unknown */
    double took;           /* overhead of the last run, as `pilot` */
    struct as_tick tick;   /* measured before the first run with timing */
    uint64_t first;        /* ticks at the begin of the first thread of the run with timing */
    char program[4096];    /* program with the hot loops; "" if unknown */
    AS_VEC(struct as_timed_loop) loop;
};

/* ---- choose.c ---- */

/* Chooses the hot loops of the run, hottest first. */
int as_timed_choose(struct as_timed *timed, struct as_error *err);
/* Makes a plan for the loops; the caller frees `*bytes`, which is NULL if none can be timed. */
int as_timed_plan(struct as_timed *timed, const struct as_patch_wish *wish, uint8_t **bytes,
                  size_t *n, struct as_error *err);

/* ---- write.c, write_paths.c, write_run.c ---- */

/* Writes all of `result` to the experiment. */
int as_timed_write(const struct as_timed *timed, const struct as_vprof_result *result,
                   struct as_error *err);
/* Writes overhead and lost records of the run. */
int as_timed_write_run(const struct as_timed *timed, const struct as_vprof_result *result,
                       struct as_error *err);
/* Writes numbers of entries and iterations of a loop, counted or estimated. */
int as_timed_write_totals(const struct as_timed *timed, const struct as_vprof_loop *loop,
                          struct as_error *err);
/* Writes the call paths of a loop by numbers of iterations. */
int as_timed_write_paths(const struct as_timed *timed, const struct as_vprof_loop *loop,
                         struct as_error *err);
/* Writes selected instances in order of time. */
int as_timed_write_line(const struct as_timed *timed, const struct as_vprof_loop *loop,
                        struct as_error *err);

#endif
