/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay query EXP SQL`: one statement that reads, and its rows.
 */
#include "rows.h"

#include "base/error.h"

int as_verb_query(struct as_cli *cli, struct assay_error *err)
{
    static const struct as_rows_style style = {0};
    struct assay_experiment *experiment = NULL;
    struct assay_rows *rows = NULL;
    int rc;

    AS_TRY(assay_experiment_read(cli->args.positional[0], &experiment, err));
    rc = assay_rows_open(experiment, cli->args.positional[1], &rows, err);
    if (rc == 0)
        rc = as_rows_show(cli, rows, &style, err);
    assay_rows_close(&rows);
    assay_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}
