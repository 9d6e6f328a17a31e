/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay decan -- CMD...`: profiles a command, analyses its hot code, runs it again with variants
 * of its hot loops, and prints their limits.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "campaign/campaign.h"
#include "decan_view.h"
#include "external_load.h"
#include "machine_page.h"
#include "quality/quality.h"
#include "recording.h"
#include "runs.h"
#include "trust/trust.h"

int as_decan_view_name(struct as_decan_view *view, const struct as_decan_loop *loop,
                       struct as_error *err)
{
    as_str_clear(&view->name);
    return as_recording_place(view->experiment, AS_OBJECT_LOOP, loop->loop_id, loop->address,
                              &view->name, err);
}

static int parse_decan_request(struct as_cli *cli, struct as_decan_request *request,
                               struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    const char *most = args->value[AS_OPTION_VARIED_OVERHEAD];
    char *end = NULL;
    *request = (struct as_decan_request){.loops = args->value[AS_OPTION_HOT_LOOPS],
                                         .top = (unsigned)args->number[AS_OPTION_TOP],
                                         .variants = args->value[AS_OPTION_VARIANTS],
                                         .runs = (unsigned)args->number[AS_OPTION_VARIED_RUNS],
                                         .together = as_given(args, AS_OPTION_TOGETHER)};
    if (most)
        request->max_overhead = strtod(most, &end) / 100;
    if (most && (end == most || (*end && strcmp(end, "%") != 0) || !(request->max_overhead > 0)))
        return as_error_set(err, AS_ERR_USAGE,
                            "--max-overhead: invalid value '%s'; use per cent above 0", most);
    if (as_given(args, AS_OPTION_VARIED_RUNS) && request->runs == 0)
        return as_error_set(err, AS_ERR_USAGE, "--runs: 0 runs measure nothing; use 1 or more");
    AS_TRY(as_decan_check_variants(request->variants, err));
    return as_recording_parse(cli, &request->profile, err);
}

static int measure_command(struct as_decan_view *view, struct as_campaign *campaign,
                           const struct as_decan_request *request, struct as_decan_result *result,
                           struct as_error *err)
{
    const struct as_campaign_run first = {.profile = request->profile, .keep_output = true};
    const struct as_quality_options quality = {0};
    struct as_profile_result profile = {.exit_code = -1};
    AS_TRY(as_campaign_run(campaign, view->experiment, &first, &profile, err));
    result->profile = profile;
    result->interrupted = profile.interrupted;
    if (profile.interrupted || profile.stopped)
        return 0;
    int rc = as_quality_run(view->experiment, profile.run_id, &quality, err);
    if (rc == 0)
        rc = as_decan_again(view->experiment, profile.run_id, campaign, request, result, err);
    result->profile = profile;
    return rc;
}

static int show(struct as_decan_view *view, struct as_error *err)
{
    return view->cli->format == AS_FORMAT_TEXT  ? as_decan_text(view, err)
           : view->cli->format == AS_FORMAT_CSV ? as_decan_csv(view, err)
                                                : as_decan_json(view, err);
}

static int decan_into(struct as_cli *cli, struct as_experiment_name *name,
                      struct as_decan_request *request, struct as_decan_result *result,
                      struct as_error *err)
{
    const struct as_run_part part[] = {{"profile", 1, 1},
                                       {"decan", 1, request->runs ? request->runs : 2}};
    struct as_run_count count = {0};
    struct as_decan_view view = {.cli = cli, .result = result};
    struct as_campaign *campaign = NULL;
    struct as_external_watch load;
    as_external_begin(&load);
    AS_TRY(as_experiment_name_create(cli, name, &view.experiment, err));
    if (!name->is_rank)
        as_run_count_begin(&count, cli, part, sizeof part / sizeof *part, &request->profile);
    int rc = as_campaign_open(&campaign, err);
    if (rc == 0)
        rc = as_campaign_check(campaign, 2, err);
    if (rc == 0)
        rc = measure_command(&view, campaign, request, result, err);
    if (rc == 0)
        as_external_load_print(cli, &load);
    if (rc == 0)
        rc = show(&view, err);
    as_campaign_close(&campaign);
    as_str_fini(&view.name);
    return as_recording_close(&view.experiment, result->profile.run_id, rc, err);
}

/* With variants the program is to do what it does without. */
static void write_difference(struct as_cli *cli, const struct as_decan_result *result)
{
    const struct as_profile_result *with = &result->varied;
    if (!result->differs)
        return;
    if (with->exit_signal)
        as_cli_note(cli,
                    "the program was killed by signal %d, but only with variants: results are "
                    "shown up to then; use --loops to leave loops out, and report this defect",
                    with->exit_signal);
    else
        as_cli_note(cli,
                    "the program ended with status %d, but only with variants; use --loops to "
                    "leave loops out, and report this defect",
                    with->exit_code);
}

int as_verb_decan(struct as_cli *cli, struct as_error *err)
{
    struct as_decan_request request;
    struct as_decan_result result = {.profile = {.exit_code = -1}, .varied = {.exit_code = -1}};
    struct as_experiment_name name = {0};
    AS_TRY(parse_decan_request(cli, &request, err));
    int rc = as_recording_name(cli, &request.profile, &name, err);
    if (rc == 0 && !name.is_rank)
        as_machine_need(cli);
    if (rc == 0)
        rc = decan_into(cli, &name, &request, &result, err);
    if (rc == 0) {
        as_experiment_name_print(cli, &name);
        write_difference(cli, &result);
    }
    as_experiment_name_fini(&name);
    as_end_like(cli, &result.profile);
    if (result.differs && cli->status == 0)
        cli->status = 1;
    if (result.interrupted)
        cli->status = 128 + SIGINT;
    as_decan_result_fini(&result);
    return rc;
}
