/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay profile -- CMD...`: records a run of a command into an experiment and prints where its
 * time went. Input and output of the command are its own; the summary goes to standard error.
 */
#include "base/error.h"
#include "profiling.h"
#include "recording.h"

static int profile_into(struct as_cli *cli, struct as_experiment_name *name,
                        const struct as_profile_request *asked, struct as_profile_result *result,
                        struct as_error *err)
{
    struct as_profile_request request = *asked;
    struct as_experiment *experiment;
    struct as_stage stage = {.quiet = as_given(&cli->args, AS_OPTION_QUIET)};
    AS_TRY(as_experiment_name_create(cli, name, &experiment, err));
    as_stage_guard(as_str_z(&name->made));
    request.attribute.progress = as_stage_show;
    request.attribute.context = &stage;
    int rc = as_profile_run(experiment, &request, result, err);
    as_stage_end(&stage);
    if (rc == 0)
        as_advise_quickly(cli, experiment, result->run_id);
    if (rc == 0)
        rc = as_summary_show(cli, experiment, result->run_id, err);
    return as_recording_close(&experiment, result->run_id, rc, err);
}

int as_verb_profile(struct as_cli *cli, struct as_error *err)
{
    struct as_profile_request request;
    struct as_profile_result result = {.exit_code = -1};
    struct as_experiment_name name = {0};
    AS_TRY(as_recording_parse(cli, &request, err));
    int rc = as_recording_name(cli, &request, &name, err);
    if (rc == 0)
        rc = profile_into(cli, &name, &request, &result, err);
    if (rc == 0)
        as_experiment_name_print(cli, &name);
    as_experiment_name_fini(&name);
    as_end_like(cli, &result);
    return rc;
}
