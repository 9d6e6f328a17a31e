/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main job: runs the analyses of a level in the order of their needs, on one run of a program
 * and its repetitions. Knows needs and results of passes; the analyses do not know each other.
 * doc/internals/advise.md says how to add a pass.
 */
#ifndef AS_PIPELINE_PIPELINE_H
#define AS_PIPELINE_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "campaign/campaign.h"
#include "catalogue/catalogue.h"
#include "experiment/experiment.h"
#include "profile/profile.h"

/* How much is asked: each level holds those below it. */
enum as_pipeline_level {
    AS_PIPELINE_ONE = 1, /* profile, code of the hot loops, advice */
    AS_PIPELINE_TWO,     /* and instances of hot loops, and what they gain with data in L1 */
    AS_PIPELINE_THREE    /* and all variants of hot loops */
};

/* Passes beyond level one that start the program again: only where they are asked for, or the level
 * has them. */
enum as_pipeline_more {
    AS_PIPELINE_COUNT = 1 << 0,     /* what its hot functions execute */
    AS_PIPELINE_INSTANCES = 1 << 1, /* the instances of its hot loops, timed */
    AS_PIPELINE_TRACE = 1 << 2      /* wait states, from a trace */
};

/* ---- Passes ------------------------------------------------------------------------------- */

struct as_pipeline_request;
struct as_pipeline_result;
struct as_pass_turn; /* turn of a pass with the experiment */

/* The job of a pass, its own copy; it sets `run_id` for later passes. */
struct as_pass_job {
    struct as_experiment *experiment; /* the one writer; no batch is open */
    struct as_catalogue *catalogue;
    struct as_campaign *campaign; /* starts the program, again too, as the user would have */
    int64_t run_id;               /* 0 until a pass has made the run */
    bool is_again;                /* the run was there before: what is known of other loops stays */
    const struct as_pipeline_request *request;
    struct as_pipeline_result *result;
    struct as_pass_turn *turn; /* of as_pass_aside */
};

/*
 * An analysis as the pipeline sees it. Facts are words of its own choice, separated by spaces
 * ("samples", "code"): NULL is none. A pass runs when all that it needs was made, behind all that
 * make what it needs or uses. One that starts the program has the machine for itself. When it fails
 * its open batch is rolled back, and it has made nothing.
 */
struct as_pass {
    const char *name;  /* short: "quality" */
    const char *stage; /* for the user: "hot code" */
    int level;         /* the lowest that has it */
    const char *needs, *uses, *makes;
    bool starts;
    int (*run)(struct as_pass_job *job, struct as_error *err);
    unsigned more; /* as_pipeline_more: option that must request it; 0: none */
};

/*
 * Passes that do not depend on each other run concurrently, one at a time with the experiment. This
 * function computes without the experiment and without rows of the catalogue, with no batch open.
 * Afterwards the pass waits for its turn in the order of the table, so results do not depend on
 * timing. So a pass reads, computes aside, and writes. Errors: those of `work`.
 */
int as_pass_aside(struct as_pass_job *job, int (*work)(void *context, struct as_error *),
                  void *context, struct as_error *err);

/* ---- Running them ------------------------------------------------------------------------- */

struct as_pipeline_request {
    /* Its progress is the one below; its attribute.catalogue serves all passes, and where it is
     * NULL one that lives as long as the call. */
    struct as_profile_request profile;
    int level;         /* enum as_pipeline_level; 0 = ONE */
    unsigned more;     /* as_pipeline_more */
    const char *loops; /* levels above one: of these loops alone (decan/decan.h); or NULL */
    double share; /* of the run's time that a module must have for its code to be read; 0 = 0.01 */
    /* Told which pass of how many is at work, and how far it is; or NULL. */
    void (*progress)(void *context, const char *stage, uint64_t done, uint64_t total);
    void *context;
    const struct as_pass *pass; /* a table of passes in place of those of the house; or NULL */
    size_t pass_n;
};

#define AS_PIPELINE_PASSES_MAX 32

struct as_pipeline_result {
    struct as_profile_result profile;
    struct as_pass_result {
        const char *name, *stage;
        double wall_s;
        int code;              /* 0, or the error code; a failed pass stops those that need it */
        struct as_error error; /* of that code */
        char missing[32];      /* a missing fact that it needs, so it did not run; or "" */
    } pass[AS_PIPELINE_PASSES_MAX]; /* in the order of the plan */
    size_t pass_n;
};

/*
 * Runs the passes of the level on a new run of `experiment`. The cost of a pass is a row of
 * `overhead` ("pass NAME"), except for passes that start the program. A failed pass stops those
 * that need it; other results stay: see the result. If none succeeds, returns the error of the
 * first failure. A cycle of needs is INTERNAL, before anything runs.
 */
int as_pipeline_run(struct as_experiment *experiment, const struct as_pipeline_request *request,
                    struct as_pipeline_result *result, struct as_error *err);

/* The same on an existing run with samples; loops with timed instances are not timed again. */
int as_pipeline_again(struct as_experiment *experiment, int64_t run_id,
                      const struct as_pipeline_request *request, struct as_pipeline_result *result,
                      struct as_error *err);

#endif
