/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay scale -- CMD...`: runs a command over threads, processes and nodes into one experiment,
 * and shows how it, its functions and its loops scale.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <assay/launch.h>

#include "base/error.h"
#include "base/str.h"
#include "compared.h"
#include "scale.h"
#include "series.h"

/* ---- The environment of a point ------------------------------------------------------------ */

enum pinning { PIN_OFF, PIN_USER, PIN_OMP };

static const char *const pinning_variables[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                                "KMP_AFFINITY"};

static enum pinning choose_pinning(struct as_cli *cli, const struct as_scale_plan *plan)
{
    int64_t processes = 1;
    for (size_t i = 0; i < plan->point_n; i++)
        if (plan->point[i].setting.processes > processes)
            processes = plan->point[i].setting.processes;
    if (getenv("OMP_NUM_THREADS"))
        as_cli_note(cli, "OMP_NUM_THREADS of the environment gives way to the numbers of threads "
                         "of this series");
    for (size_t i = 0; i < sizeof pinning_variables / sizeof *pinning_variables; i++) {
        const char *value = getenv(pinning_variables[i]);
        if (value) {
            as_cli_note(cli, "threads are placed as your environment says (%s=%s)",
                        pinning_variables[i], value);
            return PIN_USER;
        }
    }
    if (cli->args.number[AS_OPTION_PIN])
        return PIN_OFF;
    if (processes > 1) {
        as_cli_note(cli, "processes are placed by their launcher; tell it to leave room, as in "
                         "'mpirun --map-by slot:PE={threads} -n {processes} ./program'");
        return PIN_OFF;
    }
    as_cli_note(cli, "OpenMP threads are pinned to cores side by side (OMP_PROC_BIND=close "
                     "OMP_PLACES=cores); --pin off leaves them free");
    return PIN_OMP;
}

/* Threads beyond the processors are not pinned: two would share one for good. */
static void set_environment(enum pinning pinning, const struct assay_scale_setting *it)
{
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)it->threads);
    setenv("OMP_NUM_THREADS", number, 1);
    if (pinning != PIN_OMP)
        return;
    if (it->threads <= sysconf(_SC_NPROCESSORS_ONLN)) {
        setenv("OMP_PROC_BIND", "close", 1);
        setenv("OMP_PLACES", "cores", 1);
    } else {
        unsetenv("OMP_PROC_BIND");
        unsetenv("OMP_PLACES");
    }
}

/* ---- Running ------------------------------------------------------------------------------- */

/* A program that is not there is to be known before hours are spent. */
static int check_commands(const struct as_scale_plan *plan, struct assay_error *err)
{
    for (size_t i = 0; i < plan->point_n; i++) {
        struct assay_launch_plan *launch;
        AS_TRY(assay_launch_plan(plan->point[i].command, &launch, err));
        assay_launch_plan_free(&launch);
    }
    return 0;
}

static int run_point(struct as_series *series, const struct as_scale_point *point,
                     enum pinning pinning, struct assay_error *err)
{
    const struct as_series_run run = {
        .command = point->command, .kind = "scale", .label = point->label, .what = point->label};
    int64_t run_id;
    set_environment(pinning, &point->setting);
    const int rc = as_series_run(series, &run, &run_id, err);
    /* What the run was is known even of one that could not be finished. */
    if (run_id) {
        const int marked =
            assay_compare_mark(series->experiment, run_id, &point->setting, rc < 0 ? NULL : err);
        return rc < 0 ? rc : marked;
    }
    return rc;
}

/* In turns, so that a machine that grows slower does so for all points. */
static int run_all(struct as_series *series, const struct as_scale_plan *plan, enum pinning pinning,
                   struct assay_error *err)
{
    for (unsigned repeat = 0; repeat < plan->repeat_n; repeat++)
        for (size_t i = 0; i < plan->point_n && !series->is_over; i++)
            AS_TRY(run_point(series, &plan->point[i], pinning, err));
    return 0;
}

/* ---- Showing ------------------------------------------------------------------------------- */

static int show(struct as_cli *cli, struct assay_experiment *experiment, struct assay_error *err)
{
    struct assay_scale_setting setting;
    const struct assay_scale_setting *reference;
    struct assay_scalability *result;
    AS_TRY(as_scale_reference(cli, &setting, &reference, err));
    AS_TRY(assay_compare_scalability(experiment, reference, &result, err));
    if (!result)
        return as_error_set(err, ASSAY_ERR_NOT_FOUND,
                            "%s: has no runs of 'assay scale'; make some, or show it with 'assay "
                            "show'",
                            assay_experiment_path(experiment));
    int rc = 0;
    if (cli->format == AS_FORMAT_JSON) {
        struct as_json json;
        as_compared_json_begin(&json, cli, experiment, "scalability");
        assay_report_scalability_json(result, &json);
        as_compared_json_end(&json);
    } else if (cli->format == AS_FORMAT_CSV) {
        as_scale_csv(cli, result);
    } else {
        rc = as_scale_text(cli, result, err);
    }
    assay_scalability_free(&result);
    return rc;
}

static int run_series(struct as_cli *cli, const struct as_scale_plan *plan, struct assay_error *err)
{
    struct as_series series = {.own = {-1, -1, -1}};
    struct as_str name = {0};
    const size_t run_n = plan->point_n * plan->repeat_n;
    int rc = check_commands(plan, err);
    if (rc == 0)
        rc = as_series_begin(&series, cli, run_n, plan->point[0].command, &name, err);
    if (rc == 0) {
        rc = run_all(&series, plan, choose_pinning(cli, plan), err);
        if (series.begun_n) {
            struct assay_error late = {0};
            const int shown = show(cli, series.experiment, rc < 0 ? &late : err);
            rc = rc < 0 ? rc : shown;
        }
        rc = as_series_end(&series, as_str_z(&name), rc, err);
    }
    as_str_fini(&name);
    return rc;
}

int as_verb_scale(struct as_cli *cli, struct assay_error *err)
{
    struct as_scale_plan plan;
    if (as_given(&cli->args, AS_OPTION_READ))
        return as_compared_read(cli, show, err);
    int rc = as_scale_plan(cli, &plan, err);
    if (rc == 0)
        rc = run_series(cli, &plan, err);
    as_scale_plan_fini(&plan);
    return rc;
}
