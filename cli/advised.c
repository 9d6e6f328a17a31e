/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice by their code for runs that were only profiled or imported; see advised.h.
 */
#include "advised.h"

#include "base/vec.h"
#include "catalogue/catalogue.h"
#include "pipeline/pipeline.h"
#include "profiling.h"
#include "report/queries.h"

typedef AS_VEC(int64_t) run_list;

static int list_runs(struct as_experiment *experiment, run_list *out, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    rc = as_query_open(experiment, AS_QUERY_RUNS_WITHOUT_ADVICE, &rows, err);
    while (rc >= 0 && (rc = as_rows_next(rows, err)) > 0)
        if (as_vec_push(out, as_rows_integer(rows, 0)) < 0)
            break;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* Readers first: an experiment that needs nothing is not locked. */
static int list_of(const char *path, run_list *out, struct as_error *err)
{
    struct as_experiment *experiment = NULL;
    int rc = as_experiment_read(path, &experiment, err);

    if (rc == 0)
        rc = list_runs(experiment, out, err);
    as_experiment_close(&experiment, NULL);
    return rc;
}

static void advise_on(struct as_cli *cli, const char *path, const run_list *list)
{
    struct as_stage stage = {.quiet = as_given(&cli->args, AS_OPTION_QUIET)};
    const struct as_catalogue_options how = {.jobs = cli->jobs};
    struct as_pipeline_request request = {.progress = as_stage_show, .context = &stage};
    struct as_experiment *experiment = NULL;
    struct as_error ignored;

    if (as_experiment_open(path, &experiment, &ignored) < 0)
        return;
    /* Without one each run has its own. */
    as_catalogue_new(experiment, &how, &request.profile.attribute.catalogue, &ignored);
    request.profile.attribute.jobs = cli->jobs;
    as_vec_foreach (list, run_id) {
        struct as_pipeline_result result;

        if (as_pipeline_again(experiment, *run_id, &request, &result, &ignored) < 0)
            break;
    }
    as_stage_end(&stage);
    as_catalogue_free(&request.profile.attribute.catalogue);
    as_experiment_close(&experiment, &ignored);
}

void as_advise(struct as_cli *cli, const char *path)
{
    struct as_error ignored;
    run_list list = {0};

    if (list_of(path, &list, &ignored) == 0 && list.n)
        advise_on(cli, path, &list);
    as_vec_fini(&list);
}
