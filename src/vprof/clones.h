/* SPDX-License-Identifier: Apache-2.0 */
/* A run of the program with the clones of a plan in it, whatever they measure. */
#ifndef AS_VPROF_CLONES_H
#define AS_VPROF_CLONES_H

#include <assay/profile.h>

#include "campaign/internal.h"
#include "profile/collector.h"
#include "vprof/instances.h"

struct as_clones {
    const uint8_t *plan; /* was checked; borrowed by `out` */
    size_t plan_n;
    const char *program; /* in which processes: those of this file; "": all */
    const char *kind;    /* of the run */
    int64_t reference_id;
    struct as_instances *out;
    /* NULL: few samples without stacks, for the profile is there already. */
    const struct assay_sample_options *sampling;
    uint32_t share; /* variants: hundredths of a thread's time that they may take; 0: half */
    bool together;  /* variants: threads in a loop run the same one at once */
    /* Reads what else threads left in the agent's directory, before `out` is read; or NULL. */
    int (*also)(void *context, const char *directory, struct assay_error *err);
    /* Told the directory before the program runs; or NULL. */
    int (*begin)(void *context, const char *directory, struct assay_error *err);
    void *context;
};

/* A run with these sources of observation, whose output goes into the experiment. Errors: those of
 * assay_profile_run. */
int as_clones_record(struct assay_experiment *experiment, const struct as_input *input,
                     const struct as_collector_kind *const *kinds,
                     const struct assay_profile_request *request,
                     struct assay_profile_result *result, struct assay_error *err);

/* Runs what `profile` says with the plan. */
int as_clones_run(struct assay_experiment *experiment, const struct as_input *input,
                  const struct assay_profile_request *profile, const struct as_clones *clones,
                  struct assay_profile_result *result, struct assay_error *err);

/* The same for a run that is wanted for itself: what the command prints is seen, and samples are as
 * `profile` says. */
int as_clones_join(struct assay_experiment *experiment, const struct assay_profile_request *profile,
                   const struct as_clones *clones, struct assay_profile_result *result,
                   struct assay_error *err);

/* Processor time of all threads of a run; 0: not known. */
double as_clones_cpu_ns(struct assay_experiment *experiment, int64_t run_id);

#endif
