/* SPDX-License-Identifier: Apache-2.0 */
/* Notes on unfinished runs; see unfinished.h. */
#include "unfinished.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "report/queries.h"

static void note_unfinished(const struct as_cli *cli, const char *path, long long run_id,
                            const char *state)
{
    const bool may_live = state && strcmp(state, "recording") == 0;

    as_cli_note(cli, "%s: run %lld is %s 'assay attribute %s'", path, run_id,
                may_live ? "being recorded; if assay does not run any more, use"
                         : "not attributed: assay was stopped before; run",
                path);
}

int as_unfinished_note(const struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                       size_t *n, struct as_error *err)
{
    struct as_rows *rows;
    size_t found = 0;
    int rc;

    AS_TRY(as_query_open_of(experiment, AS_QUERY_RUNS_UNFINISHED, run_id, &rows, err));
    for (; (rc = as_rows_next(rows, err)) > 0; found++)
        note_unfinished(cli, as_experiment_path(experiment), (long long)as_rows_integer(rows, 0),
                        as_rows_text(rows, 1));
    as_rows_close(&rows);
    if (n)
        *n = found;
    return rc;
}

/* The row of a run is made before its samples. */
static bool has_samples(const char *experiment, int64_t run_id)
{
    char pattern[4096 + 64];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%.4096s/run-%03lld/*.samples", experiment,
             (long long)run_id);
    const bool has = glob(pattern, 0, NULL, &found) == 0;
    globfree(&found);
    return has;
}

/* Leaves a sentence as it is that would become too long. */
static void append_to(struct as_error *err, const char *more)
{
    const size_t n = strlen(err->text), more_b = strlen(more) + 1;
    if (n + more_b <= sizeof err->text)
        memcpy(err->text + n, more, more_b);
}

void as_experiment_drop(struct as_experiment **experiment, struct as_error *err)
{
    as_experiment_discard(experiment);
    if (err->code == AS_ERR_IO && strstr(err->text, ": cannot be written: "))
        append_to(err, "; nothing was stored");
}

static bool is_unfinished(struct as_experiment *experiment, int64_t run_id)
{
    struct as_rows *rows;
    int rc;

    if (run_id == 0 ||
        as_query_open_of(experiment, AS_QUERY_RUNS_UNFINISHED, run_id, &rows, NULL) < 0)
        return false;
    rc = as_rows_next(rows, NULL);
    as_rows_close(&rows);
    return rc > 0;
}

void as_unfinished_add(struct as_error *err, struct as_experiment *experiment, int64_t run_id)
{
    const char *path = as_experiment_path(experiment);

    if (!has_samples(path, run_id) || !is_unfinished(experiment, run_id))
        return;
    struct as_str more = {0};
    as_str_appendf(&more, "; then 'assay attribute %s' finishes the run", path);
    append_to(err, as_str_z(&more));
    as_str_fini(&more);
}
