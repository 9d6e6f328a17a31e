/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of a campaign: the same input and variables for every run, and its output. */
#ifndef AS_CAMPAIGN_INTERNAL_H
#define AS_CAMPAIGN_INTERNAL_H

#include <sys/types.h>

#include "campaign/campaign.h"

/* Standard input of the user. */
struct as_input {
    enum as_input_kind {
        AS_INPUT_OTHER, /* a terminal, /dev/null or closed: left as it is */
        AS_INPUT_FILE,  /* every run reads it from the same offset */
        AS_INPUT_STREAM /* a pipe or socket, which can be read once */
    } kind;
    off_t at;
};

void as_input_note(struct as_input *input);
/* Seeks to the noted offset, so that every run reads the same input. */
void as_input_rewind(const struct as_input *input);

/* Returns the input of all runs; borrowed from the campaign. */
const struct as_input *as_campaign_input(const struct as_campaign *campaign);

/* Copies of our streams while a run has others; -1 = the stream was closed. */
struct as_output {
    int own[3];
};

/* Redirects standard output and error to a file in the experiment until _restore. Errors: IO. */
int as_output_divert(struct as_output *output, const struct as_experiment *experiment,
                     struct as_error *err);
void as_output_restore(struct as_output *output);
/* Moves the output to the directory of run `run_id`, or deletes it if `run_id` is 0 or the file
 * is empty. Errors: IO, those of the experiment. */
int as_output_keep(struct as_experiment *experiment, int64_t run_id, struct as_error *err);

/* Variables that are set for a run only. */
struct as_variable {
    char *name, *before; /* before: NULL = the variable was not set */
};

struct as_variables {
    struct as_variable *at;
    size_t n;
};

/* Sets the variables of a run: its own, and those of its settings. Call _restore even after a
 * failure. Errors: NOMEM. */
int as_variables_set(struct as_variables *variables, const struct as_campaign_run *run,
                     struct as_error *err);
void as_variables_restore(struct as_variables *variables);

/* Calls the callback for the start of a run, before the streams are redirected. */
static inline void as_profile_notify_begin(const struct as_profile_request *request)
{
    if (request->begins)
        request->begins(request->begins_context, request->kind ? request->kind : "profile");
}

#endif
