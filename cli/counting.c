/* SPDX-License-Identifier: Apache-2.0 */
/* The campaign of verbs that count; see counting.h. */
#include "counting.h"

#include "base/error.h"
#include "external_load.h"
#include "recording.h"
#include "runs.h"
#include "trust/trust.h"

static int count_into(struct as_cli *cli, struct as_experiment_name *name,
                      struct as_count_request *request, as_counting_show *show,
                      struct as_count_result *result, struct as_error *err)
{
    static const struct as_run_part part[] = {{"profile", 1, 1}, {"count", 1, 1}};
    struct as_experiment *experiment = NULL;
    struct as_run_count runs = {0};
    struct as_external_watch load;
    as_external_begin(&load);
    AS_TRY(as_experiment_name_create(cli, name, &experiment, err));
    if (!name->is_rank)
        as_run_count_begin(&runs, cli, part, sizeof part / sizeof *part, &request->profile);
    int rc = as_count_run(experiment, request, result, err);
    if (rc == 0 && result->rest[0])
        as_cli_note(cli, "%s", result->rest);
    if (rc == 0 && request->profile.command) /* else the runs are of different work */
        rc = as_trust_run(experiment, result->profile.run_id, err);
    if (rc == 0)
        as_external_load_print(cli, &load);
    if (rc == 0)
        rc = show(cli, experiment, result, err);
    return as_recording_close(&experiment, result->profile.run_id, rc, err);
}

int as_counting_verb(struct as_cli *cli, void (*prepare)(struct as_cli *), as_counting_show *show,
                     struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    struct as_count_request request = {.functions = args->value[AS_OPTION_COUNT_FUNCTIONS],
                                       .loops = args->value[AS_OPTION_COUNT_LOOPS],
                                       .top = (unsigned)args->number[AS_OPTION_COUNT_TOP],
                                       .caches = args->value[AS_OPTION_COUNT_CACHES]};
    request.levels = args->value[AS_OPTION_COUNT_LEVELS] || request.caches;
    struct as_count_result result = {.profile = {.exit_code = -1}};
    struct as_experiment_name name = {0};
    AS_TRY(as_recording_parse(cli, &request.profile, err));
    int rc = as_recording_name(cli, &request.profile, &name, err);
    if (rc == 0 && prepare && !name.is_rank)
        prepare(cli);
    if (rc == 0)
        rc = count_into(cli, &name, &request, show, &result, err);
    as_recording_end(cli, &name, &result.profile, result.interrupted, rc);
    as_count_result_fini(&result);
    return rc;
}
