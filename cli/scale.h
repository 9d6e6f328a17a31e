/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `assay scale` is asked to run: the combinations of nodes, processes and threads, and the
 * command of each. Runs nothing.
 */
#ifndef AS_CLI_SCALE_H
#define AS_CLI_SCALE_H

#include <assay/compare.h>

#include "base/arena.h"
#include "cli.h"

struct as_scale_point {
    struct assay_scale_setting setting;
    const char *label; /* "2x4": processes x threads; "1x2x4": nodes before */
    const char *const *command;
};

struct as_scale_plan {
    struct as_arena arena;
    struct as_scale_point *point; /* fewest processors first */
    size_t point_n;
    unsigned repeat_n;
};

/*
 * Reads the options and the template. Combinations that make no sense are left out and said.
 * Errors: USAGE, with what to write; NOMEM. Release with as_scale_plan_fini in any case.
 */
int as_scale_plan(struct as_cli *cli, struct as_scale_plan *plan, struct assay_error *err);
void as_scale_plan_fini(struct as_scale_plan *plan);

/* "P:T" of --reference; NULL when not given. Errors: USAGE. */
int as_scale_reference(struct as_cli *cli, struct assay_scale_setting *setting,
                       const struct assay_scale_setting **out, struct assay_error *err);

/* Shows a scaling as text. Errors: NOMEM. */
int as_scale_text(struct as_cli *cli, const struct assay_scalability *it, struct assay_error *err);
void as_scale_csv(struct as_cli *cli, const struct assay_scalability *it);

#endif
