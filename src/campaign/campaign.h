/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program several times. Words of its command and variables of its environment may vary.
 * Input, working directory, usable CPUs and all other variables stay as the user set them. Each run
 * is profiled into the same experiment.
 *
 * One thread at a time. During a call nothing else may change directory, environment or standard
 * streams of the process.
 */
#ifndef AS_CAMPAIGN_CAMPAIGN_H
#define AS_CAMPAIGN_CAMPAIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "experiment/experiment.h"
#include "profile/profile.h"

/* ---- What varies -------------------------------------------------------------------------- */

/* A setting that takes several values. */
struct as_axis {
    const char *name;         /* "size": {size} in the command; "env:NAME": a variable */
    const char *const *value; /* as given, no two the same; one may be "" */
    size_t value_n;
};

/*
 * Reads "size=1,2" or "env:NAME=a,b"; '\,' in a value is a comma, '\\' a backslash. The axis is on
 * the heap. Errors: USAGE (what to write), NOMEM.
 */
int as_axis_parse(const char *text, struct as_axis **out, struct as_error *err);
void as_axis_free(struct as_axis **axis); /* NULL inside is fine */

/* Combinations of the values of all axes; SIZE_MAX when there are more. 1 without axes. */
size_t as_axes_product(struct as_axis *const *axis, size_t axis_n);
/* The settings of one of them, one an axis, borrowed. The first axis changes slowest. */
void as_axes_at(struct as_axis *const *axis, size_t axis_n, size_t combination,
                struct as_setting *out);

/*
 * A copy of `word` with {NAME} of each setting in place of its value, on the heap (free(3)); other
 * braces stay, and values are not looked at again. NULL when there is no memory.
 */
char *as_setting_expand(const char *word, const struct as_setting *setting, size_t n);
/* Whether {NAME} stands in `word`. */
bool as_setting_is_in(const char *word, const char *name);

/* ---- Runs --------------------------------------------------------------------------------- */

struct as_campaign;

/*
 * Notes what every run is to find: where a file on standard input stands, the working directory.
 * Errors: NOMEM.
 */
int as_campaign_open(struct as_campaign **out, struct as_error *err);
void as_campaign_close(struct as_campaign **campaign); /* NULL inside is fine */

/* Returns 0 if further runs get the same input as the first one. UNSUPPORTED: it is a pipe or
 * socket, which can be read only once; the error says what to do. */
int as_campaign_check(const struct as_campaign *campaign, uint64_t run_n, struct as_error *err);

struct as_campaign_run {
    struct as_profile_request profile;
    /* Further variables of this run, "env:NAME"; NULL as value: it has none of that name. */
    const struct as_setting *variable;
    size_t variable_n;
    /* Output goes to run-NNN/output.txt of the experiment instead of our streams. */
    bool keep_output;
};

/*
 * Profiles one run into `experiment`. Those of its settings that begin with "env:" are set for it;
 * then directory, variables and streams of this process are what they were. A file on standard
 * input is read from where it stood at opening, a terminal goes on. Errors: those of
 * as_profile_run, IO, and from the second run on that of as_campaign_check.
 */
int as_campaign_run(struct as_campaign *campaign, struct as_experiment *experiment,
                    const struct as_campaign_run *run, struct as_profile_result *result,
                    struct as_error *err);

#endif
