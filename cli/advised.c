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

static int list_runs(struct assay_experiment *experiment, run_list *out, struct assay_error *err)
{
    struct assay_rows *rows;
    int rc;

    rc = as_query_open(experiment, AS_QUERY_RUNS_WITHOUT_ADVICE, &rows, err);
    while (rc >= 0 && (rc = assay_rows_next(rows, err)) > 0)
        if (as_vec_push(out, assay_rows_integer(rows, 0)) < 0)
            break;
    assay_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* Readers first: an experiment that needs nothing is not locked. */
static int list_of(const char *path, run_list *out, struct assay_error *err)
{
    struct assay_experiment *experiment = NULL;
    int rc = assay_experiment_read(path, &experiment, err);

    if (rc == 0)
        rc = list_runs(experiment, out, err);
    assay_experiment_close(&experiment, NULL);
    return rc;
}

static void advise_on(struct as_cli *cli, const char *path, const run_list *list)
{
    struct as_stage stage = {.quiet = as_given(&cli->args, AS_OPTION_QUIET)};
    const struct assay_catalogue_options how = {.jobs = cli->jobs};
    struct assay_pipeline_request request = {.progress = as_stage_show, .context = &stage};
    struct assay_experiment *experiment = NULL;
    struct assay_error ignored;

    if (assay_experiment_open(path, &experiment, &ignored) < 0)
        return;
    /* Without one each run has its own. */
    assay_catalogue_new(experiment, &how, &request.profile.attribute.catalogue, &ignored);
    request.profile.attribute.jobs = cli->jobs;
    as_vec_foreach (list, run_id) {
        struct assay_pipeline_result result;

        if (assay_pipeline_again(experiment, *run_id, &request, &result, &ignored) < 0)
            break;
    }
    as_stage_end(&stage);
    assay_catalogue_free(&request.profile.attribute.catalogue);
    assay_experiment_close(&experiment, &ignored);
}

void as_advise(struct as_cli *cli, const char *path)
{
    struct assay_error ignored;
    run_list list = {0};

    if (list_of(path, &list, &ignored) == 0 && list.n)
        advise_on(cli, path, &list);
    as_vec_fini(&list);
}
