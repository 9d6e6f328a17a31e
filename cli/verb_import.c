/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay import FILE`: what `perf record` wrote becomes an experiment, and its summary is said.
 */
#include <string.h>

#include <assay/profile.h>

#include "base/error.h"
#include "experiment_name.h"
#include "profiling.h"

/* "perf.data" gives perf.assay, beside us and not beside the file. */
static int choose_name(struct as_cli *cli, struct as_experiment_name *name, struct assay_error *err)
{
    struct as_str stem = {0};
    const char *file = as_path_last(cli->args.positional[0]);
    const char *dot = strrchr(file, '.');
    int rc;
    as_str_append(&stem, file, dot && dot != file ? (size_t)(dot - file) : strlen(file));
    rc = stem.failed ? as_error_nomem(err, "the experiment's name")
                     : as_experiment_name(cli, as_str_z(&stem), name, err);
    as_str_fini(&stem);
    return rc;
}

static int import_into(struct as_cli *cli, struct as_experiment_name *name, struct assay_error *err)
{
    struct as_stage stage = {.quiet = as_given(&cli->args, AS_OPTION_QUIET)};
    const struct assay_import_request request = {
        .path = cli->args.positional[0],
        .label = cli->args.value[AS_OPTION_LABEL],
        .attribute = {.jobs = cli->jobs,
                      .categories = cli->args.value[AS_OPTION_CATEGORIES],
                      .progress = as_stage_show,
                      .context = &stage}};
    struct assay_import_result result;
    struct assay_experiment *experiment;
    struct assay_perf_data *data;
    /* A file that cannot be read must not cost the experiment that --force replaces. */
    AS_TRY(assay_perf_data_open(request.path, &data, err));
    assay_perf_data_close(&data);
    AS_TRY(as_experiment_create(cli, name, &experiment, err));
    as_stage_guard(as_str_z(&name->made));
    int rc = assay_profile_import(experiment, &request, &result, err);
    as_stage_end(&stage);
    if (rc == 0)
        as_advise_quickly(cli, experiment, result.run_id);
    if (rc == 0)
        rc = as_summary_show(cli, experiment, result.run_id, err);
    if (rc == 0 && result.damage[0])
        as_cli_note(cli, "%s", result.damage);
    if (rc < 0) /* the file is still there: nothing is lost */
        assay_experiment_discard(&experiment);
    const int closed = assay_experiment_close(&experiment, rc < 0 ? NULL : err);
    return rc < 0 ? rc : closed;
}

int as_verb_import(struct as_cli *cli, struct assay_error *err)
{
    struct as_experiment_name name = {0};
    int rc = choose_name(cli, &name, err);
    if (rc == 0)
        rc = import_into(cli, &name, err);
    if (rc == 0)
        as_cli_note(cli, "the experiment is %s", as_str_z(&name.made));
    as_experiment_name_fini(&name);
    return rc;
}
