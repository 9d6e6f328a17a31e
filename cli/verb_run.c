/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay run -- CMD...`: the main job. Makes or continues the experiment, lets the pipeline work on
 * it, and shows what came out.
 */
#include <stdlib.h>

#include "base/error.h"
#include "experiment/secrets.h"
#include "launch/launch.h"
#include "machine_page.h"
#include "pipeline/pipeline.h"
#include "profiling.h"
#include "recording.h"
#include "report/queries.h"
#include "report/report.h"
#include "runs.h"
#include "unfinished.h"

static int parse_share_pct(const char *text, double *share, struct as_error *err)
{
    char *end;

    *share = 0;
    if (!text)
        return 0;
    *share = strtod(text, &end) / 100;
    if (end == text || *end || !(*share > 0 && *share <= 1))
        return as_error_set(err, AS_ERR_USAGE,
                            "--share: invalid value '%s'; use per cent, such as 5 or 0.1", text);
    return 0;
}

static int parse_run_level(const struct as_cli *cli, struct as_pipeline_request *request,
                           struct as_error *err)
{
    const struct as_arguments *args = &cli->args;

    request->level = AS_PIPELINE_ONE + (int)args->number[AS_OPTION_RUN_LEVEL];
    request->loops = args->value[AS_OPTION_HOT_LOOPS];
    if (request->level > AS_PIPELINE_ONE && as_given(args, AS_OPTION_PID))
        return as_error_set(err, AS_ERR_USAGE,
                            "--level %s runs the command again, which is not possible with --pid; "
                            "run the command with assay",
                            args->value[AS_OPTION_RUN_LEVEL]);
    if (request->loops && request->level == AS_PIPELINE_ONE &&
        !as_given(args, AS_OPTION_RUN_INSTANCES))
        return as_error_set(err, AS_ERR_USAGE,
                            "--loops: level one does not measure loops; add --level two");
    return 0;
}

static int parse_more_passes(const struct as_cli *cli, unsigned *more, struct as_error *err)
{
    *more = (as_given(&cli->args, AS_OPTION_RUN_COUNT) ? AS_PIPELINE_COUNT : 0u) |
            (as_given(&cli->args, AS_OPTION_RUN_INSTANCES) ? AS_PIPELINE_INSTANCES : 0u) |
            (as_given(&cli->args, AS_OPTION_RUN_TRACE) ? AS_PIPELINE_TRACE : 0u);
    if (*more && as_given(&cli->args, AS_OPTION_PID))
        return as_error_set(err, AS_ERR_USAGE,
                            "--count, --vprof and --trace run the command again, which is not "
                            "possible with --pid; run the command with assay");
    return 0;
}

/* Reports failed passes and what is missing because of them; other results stay. */
static void write_failures(struct as_cli *cli, const struct as_pipeline_result *result)
{
    for (size_t i = 0; i < result->pass_n; i++)
        if (result->pass[i].code < 0)
            as_cli_complain(cli, &result->pass[i].error);
    for (size_t i = 0; i < result->pass_n; i++)
        if (result->pass[i].missing[0])
            as_cli_note(cli, "left out: %s, which needs %s", result->pass[i].stage,
                        result->pass[i].missing);
}

static int write_report(const char *name, int64_t run_id, const char *path, struct as_error *err)
{
    struct as_experiment *experiment = NULL;
    int rc;

    AS_TRY(as_experiment_read(name, &experiment, err));
    rc = as_report_write(experiment, run_id, AS_REPORT_HTML, NULL, path, err);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}

/* The page stands in the experiment, made when that is closed so that it is the newer of the two.
 * That it cannot be written takes nothing from the run. */
static void add_report(struct as_cli *cli, const char *name, int64_t run_id)
{
    struct as_error err;
    struct as_str path = {0};

    as_str_appendf(&path, "%s/report.html", name);
    if ((path.failed ? as_error_nomem(&err, "the report")
                     : write_report(name, run_id, as_str_z(&path), &err)) < 0)
        as_cli_complain(cli, &err);
    else
        as_cli_note(cli, "the report is %s", as_str_z(&path));
    as_str_fini(&path);
}

/* With --add and --loops the loops are chosen from the last profile of this command, without
 * another profile. */
static int find_run(struct as_experiment *experiment, const char *const *command,
                    struct as_profile_result *found, struct as_error *err)
{
    struct as_launch_plan *plan;
    struct as_rows *rows = NULL;
    struct as_str argv = {0};

    AS_TRY(as_launch_plan(command, &plan, err));
    as_secrets_argv(&argv, plan->argv_json); /* as it is stored */
    int rc = as_query_open(experiment, AS_QUERY_RUN_OF_COMMAND, &rows, err);
    if (rc == 0) {
        as_rows_bind_text(rows, 1, as_str_z(&argv));
        rc = as_rows_next(rows, err);
        if (rc > 0)
            *found = (struct as_profile_result){.run_id = as_rows_integer(rows, 0),
                                                .exit_code = (int)as_rows_integer(rows, 1),
                                                .exit_signal = (int)as_rows_integer(rows, 2)};
        as_rows_close(&rows);
    }
    as_launch_plan_free(&plan);
    as_str_fini(&argv);
    return rc < 0   ? rc
           : rc > 0 ? 0
                    : as_error_set(err, AS_ERR_USAGE,
                                   "%s: has no profile of this command to choose loops from; "
                                   "remove --loops to record one",
                                   as_experiment_path(experiment));
}

static int run_passes(const struct as_cli *cli, struct as_experiment *experiment,
                      const struct as_pipeline_request *request, struct as_pipeline_result *result,
                      struct as_error *err)
{
    if (!as_given(&cli->args, AS_OPTION_ADD) || !request->loops)
        return as_pipeline_run(experiment, request, result, err);
    AS_TRY(find_run(experiment, request->profile.command, &result->profile, err));
    return as_pipeline_again(experiment, result->profile.run_id, request, result, err);
}

/* Nothing of a single run, which the stages show. */
static void count_runs(struct as_run_count *count, const struct as_cli *cli, bool is_profiled,
                       struct as_pipeline_request *request)
{
    const bool is_two = request->level > AS_PIPELINE_ONE;
    const bool is_three = request->level > AS_PIPELINE_TWO;
    struct as_run_part part[5];
    size_t n = 0;

    if (is_profiled)
        part[n++] = (struct as_run_part){"profile", 1, 1};
    if (request->more & AS_PIPELINE_COUNT)
        part[n++] = (struct as_run_part){"count", 1, 1};
    if (is_two || request->more & AS_PIPELINE_INSTANCES)
        part[n++] = (struct as_run_part){"vprof", 1, 4};
    if (request->more & AS_PIPELINE_TRACE)
        part[n++] = (struct as_run_part){"trace", 1, 1};
    if (is_two)
        part[n++] = (struct as_run_part){"decan", 1, is_three ? 2 : 1};
    if (n > is_profiled)
        as_run_count_begin(count, cli, part, n, &request->profile);
}

static int run_into(struct as_cli *cli, struct as_experiment_name *name,
                    struct as_pipeline_request *request, struct as_pipeline_result *result,
                    struct as_error *err)
{
    struct as_stage stage = {.quiet = as_given(&cli->args, AS_OPTION_QUIET)};
    struct as_run_count count = {.stage = &stage};
    struct as_experiment *experiment = NULL;
    int rc;

    AS_TRY(as_given(&cli->args, AS_OPTION_ADD)
               ? as_experiment_continue(cli, name, &experiment, err)
               : as_experiment_name_create(cli, name, &experiment, err));
    as_stage_guard(as_str_z(&name->made));
    request->progress = as_stage_show;
    request->context = &stage;
    if (!name->is_rank)
        count_runs(&count, cli, !as_given(&cli->args, AS_OPTION_ADD) || !request->loops, request);
    rc = run_passes(cli, experiment, request, result, err);
    request->context = NULL;
    as_stage_end(&stage);
    if (rc == 0) {
        write_failures(cli, result);
        rc = as_summary_show(cli, experiment, result->profile.run_id, err);
    }
    if (rc < 0 && result->profile.run_id == 0 && !as_given(&cli->args, AS_OPTION_ADD))
        as_experiment_drop(&experiment, err);
    const int closed = as_experiment_close(&experiment, rc < 0 ? NULL : err);
    return rc < 0 ? rc : closed;
}

int as_verb_run(struct as_cli *cli, struct as_error *err)
{
    struct as_pipeline_request request = {0};
    struct as_pipeline_result result = {.profile.exit_code = -1};
    struct as_experiment_name name = {0};

    AS_TRY(as_recording_parse(cli, &request.profile, err));
    AS_TRY(parse_share_pct(cli->args.value[AS_OPTION_SHARE], &request.share, err));
    AS_TRY(parse_run_level(cli, &request, err));
    AS_TRY(parse_more_passes(cli, &request.more, err));
    int rc = as_recording_name(cli, &request.profile, &name, err);
    /* Ranks would measure each other, and a program that runs already the machine it shares. */
    if (rc == 0 && !name.is_rank && !as_given(&cli->args, AS_OPTION_PID))
        as_machine_need(cli);
    if (rc == 0)
        rc = run_into(cli, &name, &request, &result, err);
    if (rc == 0)
        add_report(cli, as_str_z(&name.made), result.profile.run_id);
    if (rc == 0 && name.is_rank)
        as_experiment_name_print(cli, &name);
    as_experiment_name_fini(&name);
    as_end_like(cli, &result.profile);
    return rc;
}
