/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay import FILE`: what `perf record` wrote, or a trace of another tool, becomes an experiment,
 * and what it says is said.
 */
#include <string.h>

#include "base/error.h"
#include "draft.h"
#include "exchange/import.h"
#include "experiment_name.h"
#include "export_trace.h"
#include "profile/profile.h"
#include "profiling.h"
#include "stops.h"
#include "unfinished.h"

/* "perf.data" gives perf.assay, beside us and not beside the file. */
static int choose_name(struct as_cli *cli, struct as_experiment_name *name, struct as_error *err)
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

/* ---- Filling an experiment ------------------------------------------------------------------- */

struct importing {
    struct as_cli *cli;
    struct as_experiment_name *name;
    int64_t run_id;
    struct as_import_counts counts;   /* of a trace */
    struct as_import_result profiled; /* of samples */
};

typedef int import_fill(struct importing *it, struct as_experiment *experiment,
                        struct as_error *err);

static int fill_from_samples(struct importing *it, struct as_experiment *experiment,
                             struct as_error *err)
{
    struct as_cli *cli = it->cli;
    struct as_stage stage = {.quiet = as_given(&cli->args, AS_OPTION_QUIET)};
    const struct as_import_request request = {
        .path = cli->args.positional[0],
        .label = cli->args.value[AS_OPTION_LABEL],
        .attribute = {.jobs = cli->jobs,
                      .categories = cli->args.value[AS_OPTION_CATEGORIES],
                      .progress = as_stage_show,
                      .context = &stage}};
    const int rc = as_profile_import(experiment, &request, &it->profiled, err);

    as_stage_end(&stage);
    if (rc == 0)
        as_advise_quickly(cli, experiment, it->profiled.run_id);
    it->run_id = it->profiled.run_id;
    return rc;
}

static int fill_from_trace(struct importing *it, struct as_experiment *experiment,
                           struct as_error *err)
{
    const struct as_arguments *args = &it->cli->args;

    return as_import_trace(experiment, args->positional[0], args->value[AS_OPTION_LABEL],
                           &it->run_id, &it->counts, err);
}

/* What --force replaces stays until the new experiment is whole. */
static int replace_experiment(struct importing *it, import_fill *fill, struct as_error *err)
{
    struct as_str *made = &it->name->made;
    struct as_draft draft;

    as_str_appendf(made, "%s%s", as_str_z(&it->name->stem), as_str_z(&it->name->tail));
    if (made->failed)
        return as_error_nomem(err, "the experiment's name");
    as_stops_note();
    AS_TRY(as_draft_begin(&draft, as_str_z(made), "importing", AS_EXPERIMENT_FORCE, err));
    const int rc = as_draft_end(&draft, fill(it, draft.experiment, err), err);
    if (rc < 0 && as_stops_came()) {
        it->cli->status = as_stops_status();
        as_error_set(err, rc, "import: stopped; %s is unchanged", as_str_z(made));
    }
    return rc;
}

static int make_experiment(struct importing *it, import_fill *fill, struct as_error *err)
{
    struct as_experiment *experiment;

    AS_TRY(as_experiment_name_create(it->cli, it->name, &experiment, err));
    as_stage_guard(as_str_z(&it->name->made));
    const int rc = fill(it, experiment, err);
    if (rc < 0) /* the file is still there: nothing is lost */
        as_experiment_drop(&experiment, err);
    const int closed = as_experiment_close(&experiment, rc < 0 ? NULL : err);
    return rc < 0 ? rc : closed;
}

/* ---- Saying what it holds -------------------------------------------------------------------- */

static void note_trace(const struct as_cli *cli, const struct as_import_counts *counts)
{
    as_cli_note(cli, "import: %llu records of %llu processes and %llu threads",
                (unsigned long long)counts->records_n, (unsigned long long)counts->processes_n,
                (unsigned long long)counts->threads_n);
    if (counts->left_out_n)
        as_cli_note(cli, "import: %llu records are of kinds that are not imported",
                    (unsigned long long)counts->left_out_n);
    if (counts->bad_n)
        as_cli_note(cli, "import: %llu invalid records are left out; %s",
                    (unsigned long long)counts->bad_n, counts->first_bad);
}

/* A trace is analysed first, and the results are stored. */
static int show_import(struct importing *it, bool is_trace, struct as_error *err)
{
    struct as_experiment *experiment;

    AS_TRY(as_experiment_open(as_str_z(&it->name->made), &experiment, err));
    const int rc = is_trace ? as_trace_show(it->cli, experiment, it->run_id, err)
                            : as_summary_show(it->cli, experiment, it->run_id, err);
    if (rc == 0 && is_trace)
        note_trace(it->cli, &it->counts);
    if (rc == 0 && it->profiled.damage[0])
        as_cli_note(it->cli, "%s", it->profiled.damage);
    const int closed = as_experiment_close(&experiment, rc < 0 ? NULL : err);
    return rc < 0 ? rc : closed;
}

static int import_file(struct as_cli *cli, struct as_experiment_name *name, struct as_error *err)
{
    const bool is_trace = as_import_kind_of(cli->args.positional[0]) != AS_IMPORT_NONE;
    const bool replaces =
        as_given(&cli->args, AS_OPTION_FORCE) && as_given(&cli->args, AS_OPTION_EXPERIMENT);
    struct importing it = {.cli = cli, .name = name};

    if (is_trace && as_given(&cli->args, AS_OPTION_CATEGORIES))
        return as_error_set(err, AS_ERR_USAGE,
                            "--categories: only for samples; remove it for a trace");
    if (!is_trace && cli->format == AS_FORMAT_CSV)
        return as_error_set(
            err, AS_ERR_USAGE,
            "--format: 'import' does not write csv of samples; use text or json, or "
            "'assay show EXP --view VIEW --format csv' afterwards");
    AS_TRY((replaces ? replace_experiment
                     : make_experiment)(&it, is_trace ? fill_from_trace : fill_from_samples, err));
    return show_import(&it, is_trace, err);
}

int as_verb_import(struct as_cli *cli, struct as_error *err)
{
    struct as_experiment_name name = {0};
    int rc = choose_name(cli, &name, err);
    if (rc == 0)
        rc = import_file(cli, &name, err);
    if (rc == 0)
        as_cli_note(cli, "the experiment is %s", as_str_z(&name.made));
    as_experiment_name_fini(&name);
    return rc;
}
