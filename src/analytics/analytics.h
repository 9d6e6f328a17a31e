/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Analysis of the trace of a run: wait states, delay costs, the critical path, use of CPUs; as
 * facts of the experiment (doc/internals/analytics.md).
 */
#ifndef AS_ANALYTICS_ANALYTICS_H
#define AS_ANALYTICS_ANALYTICS_H

#include <stdint.h>

#include "base/error.h"
#include "campaign/campaign.h"
#include "experiment/experiment.h"
#include "profile/profile.h"

/*
 * Reads the trace of run `traced_id` and writes its facts to run `run_id` (the same run, or the
 * profile of the same command). Earlier facts are replaced. Errors: NOT_FOUND (no trace), IO,
 * NOMEM, those of the experiment.
 */
int as_analytics_run(struct as_experiment *experiment, int64_t run_id, int64_t traced_id,
                     struct as_error *err);

/* Traces the command once more, as a repetition of run `run_id`, and writes the facts. An
 * interrupted run has none. `traced_id` is the new run. Errors: those of as_campaign_run and
 * of the above. */
int as_analytics_again(struct as_experiment *experiment, int64_t run_id,
                       struct as_campaign *campaign, const struct as_profile_request *profile,
                       int64_t *traced_id, struct as_error *err);

#endif
