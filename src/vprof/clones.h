/* SPDX-License-Identifier: Apache-2.0 */
/* A run of the program with the loop clones of a plan, for any measurement. */
#ifndef AS_VPROF_CLONES_H
#define AS_VPROF_CLONES_H

#include "campaign/internal.h"
#include "profile/collector.h"
#include "profile/profile.h"
#include "vprof/instances.h"

struct as_clones {
    const uint8_t *plan; /* a valid plan; borrowed by `out` */
    size_t plan_n;
    const char *program; /* file of the processes to patch; "" for all processes */
    const char *kind;    /* kind of the run */
    int64_t reference_id;
    struct as_instances *out;
    /* NULL for few samples without stacks, if a profile exists already. */
    const struct as_sample_options *sampling;
    uint32_t share; /* maximum time of variants in per cent of a thread's time; 0 for 50 */
    bool together;  /* threads in a loop run the same variant at the same time */
    /* Reads other files in the directory of the agent, before `out` is read; or NULL. */
    int (*also)(void *context, const char *directory, struct as_error *err);
    /* Called with the directory before the program runs; or NULL. */
    int (*begin)(void *context, const char *directory, struct as_error *err);
    void *context;
};

/* Checks, before any run, that the agent can enter the program, the shell that starts it, or the
 * running process. `what` completes the error: "timed from inside". Errors: UNSUPPORTED, those of
 * starting and attaching. */
int as_clones_check(const struct as_profile_request *request, const char *what,
                    struct as_error *err);

/* Runs the program with these collectors, and stores their output in the experiment. Errors: as
 * as_profile_run. */
int as_clones_record(struct as_experiment *experiment, const struct as_input *input,
                     const struct as_collector_kind *const *kinds,
                     const struct as_profile_request *request, struct as_profile_result *result,
                     struct as_error *err);

/* Runs the command of `profile` with the plan. Its output goes to the directory of the run. */
int as_clones_run(struct as_experiment *experiment, const struct as_input *input,
                  const struct as_profile_request *profile, const struct as_clones *clones,
                  struct as_profile_result *result, struct as_error *err);

/* Like as_clones_run, but shows the output of the command and samples as `profile` requests. */
int as_clones_join(struct as_experiment *experiment, const struct as_profile_request *profile,
                   const struct as_clones *clones, struct as_profile_result *result,
                   struct as_error *err);

/* Returns the CPU time of all threads of a run in ns, or 0 if unknown. */
double as_clones_cpu_ns(struct as_experiment *experiment, int64_t run_id);

#endif
