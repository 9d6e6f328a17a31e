/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay import FILE`: what `perf record` wrote, or a trace of another tool, becomes an experiment,
 * and what it says is said.
 */
#include <string.h>

#include <assay/profile.h>

#include "base/error.h"
#include "exchange/import.h"
#include "experiment_name.h"
#include "export_trace.h"
#include "profiling.h"
#include "unfinished.h"

/* "perf.data" gives perf.assay, beside us and not beside the file. */
static int choose_name(struct as_cli *cli, struct as_experiment_name *name, struct assay_error *err)
{
    struct as_str stem = {0};
    struct as_view file = as_view_of(cli->args.positional[0]);
    int rc;
    while (file.n > 1 && file.p[file.n - 1] == '/')
        file.n--;
    for (const char *slash; file.n > 1 && (slash = memchr(file.p, '/', file.n - 1));)
        file = (struct as_view){slash + 1, file.n - (size_t)(slash + 1 - file.p)};
    if (as_view_ends(file, ".gz"))
        file.n -= 3;
    const char *dot = file.n ? memrchr(file.p, '.', file.n) : NULL;
    as_str_append(&stem, file.p, dot && dot != file.p ? (size_t)(dot - file.p) : file.n);
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
        as_experiment_drop(&experiment, err);
    const int closed = assay_experiment_close(&experiment, rc < 0 ? NULL : err);
    return rc < 0 ? rc : closed;
}

static void note_import(const struct as_cli *cli, const struct as_import_counts *counts)
{
    as_cli_note(cli, "import: %llu records of %llu processes and %llu threads",
                (unsigned long long)counts->records_n, (unsigned long long)counts->processes_n,
                (unsigned long long)counts->threads_n);
    if (counts->left_out_n)
        as_cli_note(cli, "import: %llu records are of kinds that are not taken over",
                    (unsigned long long)counts->left_out_n);
    if (counts->bad_n)
        as_cli_note(cli, "import: %llu records make no sense and are left out; %s",
                    (unsigned long long)counts->bad_n, counts->first_bad);
}

static int import_trace_into(struct as_cli *cli, struct as_experiment_name *name,
                             struct assay_error *err)
{
    struct as_import_counts counts;
    struct assay_experiment *experiment;
    int64_t run_id = 0;
    if (as_given(&cli->args, AS_OPTION_CATEGORIES))
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--categories: are of samples; leave it out with a trace");
    AS_TRY(as_experiment_create(cli, name, &experiment, err));
    int rc = as_import_trace(experiment, cli->args.positional[0], cli->args.value[AS_OPTION_LABEL],
                             &run_id, &counts, err);
    if (rc == 0)
        rc = as_trace_show(cli, experiment, run_id, err);
    if (rc == 0)
        note_import(cli, &counts);
    if (rc < 0) /* the file is still there: nothing is lost */
        as_experiment_drop(&experiment, err);
    const int closed = assay_experiment_close(&experiment, rc < 0 ? NULL : err);
    return rc < 0 ? rc : closed;
}

int as_verb_import(struct as_cli *cli, struct assay_error *err)
{
    struct as_experiment_name name = {0};
    int rc = choose_name(cli, &name, err);
    if (rc == 0)
        rc = as_import_kind_of(cli->args.positional[0]) == AS_IMPORT_NONE
                 ? import_into(cli, &name, err)
                 : import_trace_into(cli, &name, err);
    if (rc == 0)
        as_cli_note(cli, "the experiment is %s", as_str_z(&name.made));
    as_experiment_name_fini(&name);
    return rc;
}
