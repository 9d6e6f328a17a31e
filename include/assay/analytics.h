/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the trace of a run says: who waited for whom, what it cost, the critical path, how well
 * processors were used; as facts of the experiment (doc/internals/analytics.md).
 */
#ifndef ASSAY_ANALYTICS_H
#define ASSAY_ANALYTICS_H

#include <stdint.h>

#include <assay/campaign.h>
#include <assay/error.h>
#include <assay/experiment.h>
#include <assay/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads the trace of run `traced_id` and makes it facts of run `run_id` (the same, or the profile
 * of the same command), in place of those that were there. Errors: NOT_FOUND (it has no trace), IO,
 * NOMEM, those of the experiment.
 */
int assay_analytics_run(struct assay_experiment *experiment, int64_t run_id, int64_t traced_id,
                        struct assay_error *err);

/* Runs the command once more with a trace, as a repetition of run `run_id`, whose facts follow. A
 * run that its user ended makes none. `traced_id` is the new run. Errors: those of
 * assay_campaign_run and of the above. */
int assay_analytics_again(struct assay_experiment *experiment, int64_t run_id,
                          struct assay_campaign *campaign,
                          const struct assay_profile_request *profile, int64_t *traced_id,
                          struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
