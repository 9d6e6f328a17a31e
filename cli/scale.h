/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of `assay scale`: combinations of nodes, processes, threads and other settings, and the
 * command of each. Runs nothing.
 */
#ifndef AS_CLI_SCALE_H
#define AS_CLI_SCALE_H

#include "base/arena.h"
#include "campaign/campaign.h"
#include "cli.h"
#include "compare/compare.h"
#include "scaling/model.h"

struct as_scale_plan_point {
    struct as_scale_setting setting;
    const char *label; /* "2x4": processes x threads; "1x2x4": nodes before; "size=9 2x4" */
    const char *const *command;
    const struct as_setting *variant; /* one an axis of the plan */
    size_t variant_number;            /* the first axis changes slowest */
};

struct as_scale_plan {
    struct as_arena arena;
    struct as_scale_plan_point *point; /* by variant, then fewest CPUs first */
    size_t point_n, reference;         /* what the others are compared with */
    struct as_axis **axis;             /* of --vary */
    size_t axis_n;
    unsigned repeat_n;
};

/*
 * Reads the options and the template. Combinations that make no sense are left out and said.
 * Errors: USAGE, with what to write; NOMEM. Release with as_scale_plan_fini in any case.
 */
int as_scale_plan(struct as_cli *cli, struct as_scale_plan *plan, struct as_error *err);
void as_scale_plan_fini(struct as_scale_plan *plan);

/* "P:T" of --reference; NULL when not given. Errors: USAGE. */
int as_scale_reference(struct as_cli *cli, struct as_scale_setting *setting,
                       const struct as_scale_setting **out, struct as_error *err);

/* Shows a scaling as text. Errors: NOMEM. */
int as_scale_text(struct as_cli *cli, const struct as_scalability *it, struct as_error *err);
void as_scale_csv(struct as_cli *cli, const struct as_scalability *it);

/* The numbers of an option such as 1,2,4-8; none where it is not given. Errors: USAGE. */
int as_scale_sizes(struct as_cli *cli, enum as_option_id option, const char *name, double *size,
                   size_t capacity, size_t *n, struct as_error *err);

/* ---- Traces ---------------------------------------------------------------------------------- */

/* scale_traces.c: --trace. Errors: USAGE, those of the traces, NOMEM. */
int as_scale_traces(struct as_cli *cli, struct as_error *err);
/* scale_traces_text.c: the model as text, and the sentences that JSON has too. Errors: NOMEM. */
int as_scale_model_text(struct as_cli *cli, const struct as_scaling_model *model,
                        struct as_error *err);
/* scale_store.c: --store. Checks that EXP can be read before traces are. Errors: those of EXP. */
int as_scale_store_check(struct as_cli *cli, struct as_error *err);
/* Stores a model, and the fitted curves: the projections of `curve`. Errors: those of EXP. */
int as_scale_store(struct as_cli *cli, const struct as_scaling_model *model,
                   const struct as_scaling_model *curve, struct as_error *err);
/* The factor below the global efficiency that is lowest at the largest size measured; leaves only.
 */
enum as_scaling_factor as_scale_lowest(const struct as_scaling_model *model);

#endif
