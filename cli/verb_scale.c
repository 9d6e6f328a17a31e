/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay scale -- CMD...`: runs a command over threads, processes and nodes into one experiment.
 * Prints the scaling of the program, its functions and its loops.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "compared.h"
#include "external_load.h"
#include "launch/launch.h"
#include "scale.h"
#include "series.h"

/* ---- The environment of a point ------------------------------------------------------------ */

enum pinning { PIN_OFF, PIN_USER, PIN_OMP };

static const char *const pinning_variables[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                                "KMP_AFFINITY"};

static bool varies_placement(const struct as_scale_plan *plan)
{
    for (size_t i = 0; i < plan->axis_n; i++)
        for (size_t k = 0; k < sizeof pinning_variables / sizeof *pinning_variables; k++)
            if (strncmp(plan->axis[i]->name, "env:", 4) == 0 &&
                strcmp(plan->axis[i]->name + 4, pinning_variables[k]) == 0)
                return true;
    return false;
}

static enum pinning choose_pinning(struct as_cli *cli, const struct as_scale_plan *plan)
{
    int64_t processes = 1;
    for (size_t i = 0; i < plan->point_n; i++)
        if (plan->point[i].setting.processes > processes)
            processes = plan->point[i].setting.processes;
    if (plan->point[0].setting.threads && getenv("OMP_NUM_THREADS"))
        as_cli_note(cli, "OMP_NUM_THREADS of the environment is replaced by the thread numbers of "
                         "this series");
    for (size_t i = 0; i < sizeof pinning_variables / sizeof *pinning_variables; i++) {
        const char *value = getenv(pinning_variables[i]);
        if (value) {
            as_cli_note(cli, "threads are placed by the environment (%s=%s)", pinning_variables[i],
                        value);
            return PIN_USER;
        }
    }
    if (cli->args.number[AS_OPTION_PIN] || !plan->point[0].setting.threads ||
        varies_placement(plan))
        return PIN_OFF;
    if (processes > 1) {
        as_cli_note(cli, "processes are placed by their launcher; set it to reserve CPUs for "
                         "threads, as in 'mpirun --map-by slot:PE={threads} -n {processes} "
                         "./program'");
        return PIN_OFF;
    }
    as_cli_note(cli, "OpenMP threads are pinned to adjacent cores (OMP_PROC_BIND=close "
                     "OMP_PLACES=cores); --pin off leaves them free");
    return PIN_OMP;
}

/* Variables of a point: NULL is none of that name. */
struct variables {
    struct as_setting at[3];
    size_t n;
    char number[32];
};

/* More threads than CPUs are not pinned: two would always share one. */
static void choose_variables(enum pinning pinning, const struct as_scale_setting *it,
                             struct variables *out)
{
    const bool is_pinned = it->threads <= sysconf(_SC_NPROCESSORS_ONLN);
    out->n = 0;
    if (!it->threads)
        return;
    snprintf(out->number, sizeof out->number, "%lld", (long long)it->threads);
    out->at[out->n++] = (struct as_setting){"env:OMP_NUM_THREADS", out->number};
    if (pinning != PIN_OMP)
        return;
    out->at[out->n++] = (struct as_setting){"env:OMP_PROC_BIND", is_pinned ? "close" : NULL};
    out->at[out->n++] = (struct as_setting){"env:OMP_PLACES", is_pinned ? "cores" : NULL};
}

/* ---- Running ------------------------------------------------------------------------------- */

/* A program that is not there is to be known before hours are spent. */
static int check_commands(const struct as_scale_plan *plan, struct as_error *err)
{
    for (size_t i = 0; i < plan->point_n; i++) {
        struct as_launch_plan *launch;
        AS_TRY(as_launch_plan(plan->point[i].command, &launch, err));
        as_launch_plan_free(&launch);
    }
    return 0;
}

/* First runs, as references of the others. */
struct firsts {
    int64_t reference;
    int64_t *of_point; /* its first run, 0 = there was none yet */
};

static int run_point(struct as_series *series, const struct as_scale_plan *plan, size_t number,
                     enum pinning pinning, struct firsts *firsts, struct as_error *err)
{
    const struct as_scale_plan_point *point = &plan->point[number];
    int64_t *first = &firsts->of_point[number], run_id;
    struct variables variables;
    choose_variables(pinning, &point->setting, &variables);
    const struct as_series_run run = {.command = point->command,
                                      .kind = "scale",
                                      .label = point->label,
                                      .what = point->label,
                                      .role = *first              ? "repetition"
                                              : firsts->reference ? "variant"
                                                                  : "reference",
                                      .reference_id = *first ? *first : firsts->reference,
                                      .setting = point->variant,
                                      .setting_n = plan->axis_n,
                                      .variable = variables.at,
                                      .variable_n = variables.n};
    const int rc = as_series_run(series, &run, &run_id, err);
    *first = *first ? *first : run_id;
    firsts->reference = firsts->reference ? firsts->reference : run_id;
    /* Settings of a run are known even if it failed. */
    if (run_id) {
        const int marked =
            as_compare_mark(series->experiment, run_id, &point->setting, rc < 0 ? NULL : err);
        return rc < 0 ? rc : marked;
    }
    return rc;
}

/* In turns, so that a machine that grows slower does so for all points; the reference first. */
static int run_turns(struct as_series *series, const struct as_scale_plan *plan,
                     enum pinning pinning, struct firsts *firsts, struct as_error *err)
{
    for (unsigned repeat = 0; repeat < plan->repeat_n; repeat++)
        for (size_t i = 0; i < plan->point_n && !series->is_over; i++) {
            const size_t number = i == 0 ? plan->reference : i <= plan->reference ? i - 1 : i;
            AS_TRY(run_point(series, plan, number, pinning, firsts, err));
        }
    return 0;
}

static int run_all(struct as_series *series, const struct as_scale_plan *plan, enum pinning pinning,
                   struct as_error *err)
{
    struct firsts firsts = {.of_point = calloc(plan->point_n, sizeof *firsts.of_point)};
    const int rc = firsts.of_point ? run_turns(series, plan, pinning, &firsts, err)
                                   : as_error_nomem(err, "the runs of a series");
    free(firsts.of_point);
    return rc;
}

/* How many runs there will be is to be known before hours are spent. */
static void emit_size(struct as_cli *cli, const struct as_scale_plan *plan)
{
    struct as_str axes = {0};
    const size_t variant_n = as_axes_product(plan->axis, plan->axis_n);
    for (size_t i = 0; i < plan->axis_n; i++)
        as_str_appendf(&axes, "%s%s (%zu)", i ? " x " : "", plan->axis[i]->name,
                       plan->axis[i]->value_n);
    if (plan->point_n > variant_n)
        as_str_appendf(&axes, " x nodes, processes and threads (%zu)", plan->point_n / variant_n);
    if (plan->axis_n)
        as_cli_note(cli, "%zu runs: %s%s", plan->point_n * plan->repeat_n, as_str_z(&axes),
                    plan->repeat_n > 1 ? ", repeated" : "");
    as_str_fini(&axes);
}

/* ---- Showing ------------------------------------------------------------------------------- */

static int show_scaling(struct as_cli *cli, struct as_experiment *experiment, struct as_error *err)
{
    struct as_scale_setting setting;
    const struct as_scale_setting *reference;
    struct as_scalability *result;
    AS_TRY(as_scale_reference(cli, &setting, &reference, err));
    AS_TRY(as_compare_scalability(experiment, reference, &result, err));
    if (!result)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: has no runs of 'assay scale'; run it, or use 'assay show'",
                            as_experiment_path(experiment));
    int rc = 0;
    if (cli->format == AS_FORMAT_JSON) {
        struct as_json json;
        as_compared_json_begin(&json, cli, experiment, "scalability");
        as_report_scalability_json(result, &json);
        as_compared_json_end(&json);
    } else if (cli->format == AS_FORMAT_CSV) {
        as_scale_csv(cli, result);
    } else {
        rc = as_scale_text(cli, result, err);
    }
    as_scalability_free(&result);
    return rc;
}

static int run_series(struct as_cli *cli, const struct as_scale_plan *plan, struct as_error *err)
{
    struct as_series series = {.cli = cli};
    struct as_external_watch load;
    struct as_str name = {0};
    const size_t run_n = plan->point_n * plan->repeat_n;
    as_external_begin(&load);
    int rc = check_commands(plan, err);
    if (rc == 0)
        rc = as_series_begin(&series, cli, run_n, plan->point[0].command, &name, err);
    if (rc == 0) {
        emit_size(cli, plan);
        rc = run_all(&series, plan, choose_pinning(cli, plan), err);
    }
    if (series.begun_n) {
        struct as_error late = {0};
        as_external_load_print(cli, &load);
        const int shown = show_scaling(cli, series.experiment, rc < 0 ? &late : err);
        rc = rc < 0 ? rc : shown;
    }
    rc = as_series_end(&series, as_str_z(&name), rc, err);
    as_str_fini(&name);
    return rc;
}

int as_verb_scale(struct as_cli *cli, struct as_error *err)
{
    struct as_scale_plan plan;
    if (as_given(&cli->args, AS_OPTION_SCALE_TRACE))
        return as_scale_traces(cli, err);
    if (as_given(&cli->args, AS_OPTION_SCALE_STORE))
        return as_error_set(err, AS_ERR_USAGE,
                            "--store: it stores a model of traces; use it with --trace");
    if (as_given(&cli->args, AS_OPTION_READ))
        return as_compared_read(cli, show_scaling, err);
    int rc = as_scale_plan(cli, &plan, err);
    if (rc == 0)
        rc = run_series(cli, &plan, err);
    as_scale_plan_fini(&plan);
    return rc;
}
