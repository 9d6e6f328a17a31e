/* SPDX-License-Identifier: Apache-2.0 */
/* Output of `assay decan`: text, JSON and CSV. */
#ifndef AS_CLI_DECAN_VIEW_H
#define AS_CLI_DECAN_VIEW_H

#include "base/str.h"
#include "cli.h"
#include "decan/decan.h"

struct as_decan_view {
    struct as_cli *cli;
    struct as_experiment *experiment;
    const struct as_decan_result *result;
    struct as_str name; /* of the loop at hand */
};

/* Sets `name`. Errors: those of rows. */
int as_decan_view_name(struct as_decan_view *view, const struct as_decan_loop *loop,
                       struct as_error *err);

int as_decan_text(struct as_decan_view *view, struct as_error *err);
int as_decan_json(struct as_decan_view *view, struct as_error *err);
/* A row a loop, bucket and variant. */
int as_decan_csv(struct as_decan_view *view, struct as_error *err);

#endif
