/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what makes a program faster: variants of environment, threads, placement and compiler
 * options, each measured alternately with the unchanged program, within a time limit. Results are
 * facts of the experiment (table `trial`), with the command to use.
 */
#ifndef AS_TRIAL_TRIAL_H
#define AS_TRIAL_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "experiment/experiment.h"
#include "profile/profile.h"

/* X(NAME, word): what became of a variant. */
#define AS_TRIAL_VERDICT_LIST(X)                                                                   \
    X(OPEN, "open") /* too few runs for any verdict */                                             \
    X(GAIN, "gain") /* faster for certain */                                                       \
    X(HARM, "harm") /* slower for certain */                                                       \
    X(NONE, "none") /* neither: the interval says how much it may be */                            \
    X(SAME, "same") /* the same code as another: not run */                                        \
    X(NO_BUILD, "unbuilt")                                                                         \
    X(FAILED, "failed") /* ended with a status or signal of its own */                             \
    X(TOO_LONG, "hung")                                                                            \
    X(DIFFERS, "differs") /* other results */                                                      \
    X(NOT_RUN, "unrun")   /* the time was too short */

enum as_trial_verdict {
#define AS_TRIAL_VERDICT_ENUM(name, word) AS_TRIAL_##name,
    AS_TRIAL_VERDICT_LIST(AS_TRIAL_VERDICT_ENUM)
#undef AS_TRIAL_VERDICT_ENUM
};

const char *as_trial_word(enum as_trial_verdict verdict);

/* Kinds of variants; a bit each. */
#define AS_TRIAL_ENV       1u
#define AS_TRIAL_THREADS   2u
#define AS_TRIAL_PLACEMENT 4u
#define AS_TRIAL_FLAGS     8u
#define AS_TRIAL_ALL       15u

/* Progress of the campaign; nothing of it is stored. */
struct as_trial_news {
    enum {
        AS_TRIAL_NEWS_NOTE, /* `text` is a sentence */
        AS_TRIAL_NEWS_BUILD,
        AS_TRIAL_NEWS_RUN
    } kind;
    const char *text;    /* of BUILD and RUN: the variant, "base" */
    size_t number, all;  /* of BUILD: which of how many; of RUN: the round, variants in it */
    double left_s;       /* RUN: at most */
    const char *best;    /* so far, or NULL */
    double best_s, of_s; /* its gain, of the time of base */
};

/* All zero is a good choice but for `profile`. Borrowed during the call. */
struct as_trial_request {
    struct as_profile_request profile; /* of each run; command must be there */
    /* A run of the program as it is that the experiment has already: its findings choose, and are
     * answered. 0: the first run is one. */
    int64_t run_id;
    unsigned what;      /* AS_TRIAL_*; 0: all */
    double budget_s;    /* 0: 300 */
    const char *build;  /* a command for /bin/sh with {flags} in it, or NULL */
    const char *source; /* what it builds; NULL: the working directory */
    double tolerance;   /* of numbers in the output, relative; negative: they must be the same */
    const char
        *check;    /* a command for /bin/sh that judges the results, in place of that; or NULL */
    bool copy;     /* the program runs in a copy of its directory; sources of any size */
    unsigned jobs; /* concurrent builds; 0: one per CPU */
    void (*tell)(void *context, const struct as_trial_news *news);
    bool (*stop)(void *context); /* asked between runs and during builds: true ends it; or NULL */
    void *context;
};

struct as_trial_result {
    size_t trial_n, gain_n, harm_n, run_n;
    /* Run with the tested findings: that of the request, or the first run; 0: none succeeded. */
    int64_t base_run_id;
    bool interrupted; /* Ctrl-C: what was measured stays */
    bool is_busy;     /* the host was too busy to judge by */
};

/*
 * Tries variants of the command and writes to `experiment`. Runs of the unchanged program have the
 * label "base", those of a variant its name. Errors: USAGE (no {flags}, a source directory too
 * large to copy), failures of the unchanged program or build, UNSUPPORTED (input from a pipe),
 * those of writing.
 */
int as_trial_run(struct as_experiment *experiment, const struct as_trial_request *request,
                 struct as_trial_result *result, struct as_error *err);

#endif
