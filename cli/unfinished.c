/* SPDX-License-Identifier: Apache-2.0 */
/* Notes on unfinished runs; see unfinished.h. */
#include "unfinished.h"

#include <string.h>

#include "base/error.h"
#include "profile/unfinished.h"

static void note(const struct as_cli *cli, long long run_id, const char *state)
{
    const char *path = cli->args.positional[0];

    if (state && strcmp(state, "recording") == 0)
        as_cli_note(cli, "%s: run %lld is being recorded; it is shown when it has ended", path,
                    run_id);
    else
        as_cli_note(cli,
                    "%s: run %lld is not attributed, for assay was stopped before; finish it with "
                    "'assay attribute %s'",
                    path, run_id, path);
}

int as_unfinished_note(const struct as_cli *cli, struct assay_experiment *experiment,
                       int64_t run_id, size_t *n, struct assay_error *err)
{
    struct assay_rows *rows;
    size_t found = 0;
    int rc;

    AS_TRY(assay_rows_open(experiment,
                           "SELECT run_id, state FROM run r WHERE ?1 IN (0, run_id) "
                           "AND " AS_RUN_UNFINISHED " ORDER BY run_id",
                           &rows, err));
    assay_rows_bind_integer(rows, 1, run_id);
    for (; (rc = assay_rows_next(rows, err)) > 0; found++)
        note(cli, (long long)assay_rows_integer(rows, 0), assay_rows_text(rows, 1));
    assay_rows_close(&rows);
    if (n)
        *n = found;
    return rc;
}
