/* SPDX-License-Identifier: Apache-2.0 */
/* The analysis as a pass: of a trace that is there, or of a run that is started for it. */
#include "analytics/analytics.h"
#include "analytics/store/trace_result.h"
#include "base/error.h"

int as_analytics_run_together(struct as_experiment *experiment, int64_t run_id, int64_t traced_id,
                              struct as_party *party, struct as_error *err)
{
    struct as_traced traced;
    int rc = as_traced_read(experiment, traced_id, party, &traced, err);
    if (rc == 0)
        rc = as_traced_write(experiment, run_id, traced_id, &traced, err);
    as_traced_fini(&traced);
    return rc;
}

int as_analytics_run(struct as_experiment *experiment, int64_t run_id, int64_t traced_id,
                     struct as_error *err)
{
    return as_analytics_run_together(experiment, run_id, traced_id, NULL, err);
}

/* The profile has samples: those of this run show the computation between the events of the
 * trace. */
int as_analytics_again(struct as_experiment *experiment, int64_t run_id,
                       struct as_campaign *campaign, const struct as_profile_request *profile,
                       int64_t *traced_id, struct as_error *err)
{
    const struct as_trace_options options = {.groups = AS_TRACED_USUAL,
                                             .callers = AS_TRACED_CALLERS,
                                             .memory_min_b = AS_TRACED_MEMORY_B};
    struct as_campaign_run run = {.profile = *profile, .keep_output = true};
    struct as_profile_result result = {.exit_code = -1};
    run.profile.trace = &options;
    run.profile.kind = "trace";
    run.profile.role = "repetition";
    run.profile.reference_id = run_id;
    run.profile.sampling.rate_hz = AS_RATE_LOW;
    AS_TRY(as_campaign_run(campaign, experiment, &run, &result, err));
    *traced_id = result.run_id;
    return result.interrupted || result.stopped
               ? 0
               : as_analytics_run(experiment, run_id, result.run_id, err);
}
