/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay attribute EXP`: attributes the samples of an interrupted recording.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/vec.h"
#include "catalogue/catalogue.h"
#include "cli.h"
#include "profile/profile.h"
#include "profiling.h"
#include "report/queries.h"

struct run {
    int64_t id;
    bool is_attributed; /* only the sums are missing */
};
typedef AS_VEC(struct run) run_list;

/* Runs that were recorded, but of which nothing is known yet, or no sums. */
static int list_runs(struct as_experiment *experiment, run_list *out, struct as_error *err)
{
    struct as_rows *rows;
    int rc;
    AS_TRY(as_query_open(experiment, AS_QUERY_RUNS_TO_ATTRIBUTE, &rows, err));
    while ((rc = as_rows_next(rows, err)) > 0)
        if (as_vec_push(out, (struct run){.id = as_rows_integer(rows, 0),
                                          .is_attributed = as_rows_integer(rows, 1) != 0}) < 0) {
            rc = as_error_nomem(err, "the runs");
            break;
        }
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static int attribute_runs(struct as_cli *cli, struct as_experiment *experiment,
                          const run_list *list, struct as_error *err)
{
    struct as_stage stage = {.quiet = as_given(&cli->args, AS_OPTION_QUIET)};
    const struct as_catalogue_options how = {.jobs = cli->jobs};
    struct as_attribute_options options = {.jobs = cli->jobs,
                                           .categories = cli->args.value[AS_OPTION_CATEGORIES],
                                           .progress = as_stage_show,
                                           .context = &stage};
    int rc = as_catalogue_new(experiment, &how, &options.catalogue, err);
    for (size_t i = 0; i < list->n && rc == 0; i++) {
        const struct run *run = &list->at[i];
        rc = run->is_attributed ? as_experiment_summarise(experiment, run->id, err)
                                : as_profile_attribute(experiment, run->id, &options, err);
        as_stage_end(&stage);
        if (rc == 0)
            as_advise_quickly(cli, experiment, run->id);
        if (rc == 0)
            as_cli_note(cli, "run %lld is attributed", (long long)run->id);
    }
    as_catalogue_free(&options.catalogue);
    if (list->n == 0)
        as_cli_note(cli, "%s: every run is attributed", cli->args.positional[0]);
    return rc;
}

int as_verb_attribute(struct as_cli *cli, struct as_error *err)
{
    struct as_experiment *experiment;
    run_list list = {0};
    AS_TRY(as_experiment_open(cli->args.positional[0], &experiment, err));
    as_stage_guard(cli->args.positional[0]);
    int rc = list_runs(experiment, &list, err);
    if (rc == 0)
        rc = attribute_runs(cli, experiment, &list, err);
    as_vec_fini(&list);
    const int closed = as_experiment_close(&experiment, rc < 0 ? NULL : err);
    return rc < 0 ? rc : closed;
}
