/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main job: the analyses of a level, in an order in which each finds what it needs, on one run
 * of a program. Knows which passes there are and what they need and make; the analyses know nothing
 * of each other.
 */
#ifndef ASSAY_PIPELINE_H
#define ASSAY_PIPELINE_H

#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>
#include <assay/experiment.h>
#include <assay/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How much is asked: each level holds those below it. */
enum assay_pipeline_level {
    ASSAY_PIPELINE_ONE = 1 /* profile, code of the hot loops, advice */
};

struct assay_pipeline_request {
    /* Its progress is the one below; its attribute.catalogue serves all passes, and where it is
     * NULL one that lives as long as the call. */
    struct assay_profile_request profile;
    int level;    /* enum assay_pipeline_level; 0 = ONE */
    double share; /* of the run's time that a module must have for its code to be read; 0 = 0.01 */
    /* Told which pass of how many is at work, and how far it is; or NULL. */
    void (*progress)(void *context, const char *stage, uint64_t done, uint64_t total);
    void *context;
};

#define ASSAY_PIPELINE_PASSES_MAX 16

struct assay_pipeline_result {
    struct assay_profile_result profile;
    struct assay_pass_result {
        const char *name;
        double wall_s;
        int code;                 /* 0, or the error code; a failed pass stops those that need it */
        struct assay_error error; /* of that code */
    } pass[ASSAY_PIPELINE_PASSES_MAX];
    size_t pass_n;
};

/*
 * Runs the passes of the level on a new run of `experiment`. Passes share the one writer of the
 * experiment and go one after the other; each uses all processors. What a pass costs is a row of
 * `overhead` ("pass NAME"). Errors: those of the profile; a failure of a later pass is in the
 * result, and what was found before it stays.
 */
int assay_pipeline_run(struct assay_experiment *experiment,
                       const struct assay_pipeline_request *request,
                       struct assay_pipeline_result *result, struct assay_error *err);

/* The passes of the level after the profile, on a run that is in the experiment already. */
int assay_pipeline_again(struct assay_experiment *experiment, int64_t run_id,
                         const struct assay_pipeline_request *request,
                         struct assay_pipeline_result *result, struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
