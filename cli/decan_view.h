/* SPDX-License-Identifier: Apache-2.0 */
/* Output of `assay decan`: text, JSON and CSV. */
#ifndef AS_CLI_DECAN_VIEW_H
#define AS_CLI_DECAN_VIEW_H

#include "base/str.h"
#include "cli.h"
#include "decan/decan.h"

struct as_decan_view {
    struct as_cli *cli;
    struct assay_experiment *experiment;
    const struct assay_decan_result *result;
    struct as_str name; /* of the loop at hand */
};

/* Sets `name`. Errors: those of rows. */
int as_decan_view_name(struct as_decan_view *view, const struct assay_decan_loop *loop,
                       struct assay_error *err);

int as_decan_text(struct as_decan_view *view, struct assay_error *err);
int as_decan_json(struct as_decan_view *view, struct assay_error *err);
/* A row a loop, bucket and variant. */
int as_decan_csv(struct as_decan_view *view, struct assay_error *err);

#endif
