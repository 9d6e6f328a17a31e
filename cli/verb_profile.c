/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay profile -- CMD...`: records a run of a command into an experiment and says where its time
 * went. What the command writes and reads is its own; the summary goes to standard error.
 */
#include "base/error.h"
#include "profiling.h"
#include "recording.h"
#include "unfinished.h"

static int profile_into(struct as_cli *cli, const char *name,
                        const struct assay_profile_request *asked,
                        struct assay_profile_result *result, struct assay_error *err)
{
    struct assay_profile_request request = *asked;
    struct assay_experiment *experiment;
    struct as_stage stage = {.quiet = as_given(&cli->args, AS_OPTION_QUIET)};
    const unsigned flags = as_given(&cli->args, AS_OPTION_FORCE) ? ASSAY_EXPERIMENT_FORCE : 0;
    AS_TRY(assay_experiment_create(name, flags, &experiment, err));
    as_stage_guard(name);
    request.attribute.progress = as_stage_show;
    request.attribute.context = &stage;
    int rc = assay_profile_run(experiment, &request, result, err);
    as_stage_end(&stage);
    if (rc == 0)
        rc = as_summary_show(cli, experiment, result->run_id, err);
    if (rc < 0 && result->run_id == 0)
        assay_experiment_discard(&experiment);
    else if (rc < 0)
        as_unfinished_add(err, name, result->run_id);
    const int closed = assay_experiment_close(&experiment, rc < 0 ? NULL : err);
    return rc < 0 ? rc : closed;
}

int as_verb_profile(struct as_cli *cli, struct assay_error *err)
{
    struct assay_profile_request request;
    struct assay_profile_result result = {.exit_code = -1};
    struct as_str name = {0};
    AS_TRY(as_recording_take(cli, &request, err));
    int rc = as_recording_name(cli, &request, &name, err);
    if (rc == 0)
        rc = profile_into(cli, as_str_z(&name), &request, &result, err);
    if (rc == 0)
        as_cli_note(cli, "the experiment is %s", as_str_z(&name));
    as_str_fini(&name);
    as_end_like(cli, &result);
    return rc;
}
