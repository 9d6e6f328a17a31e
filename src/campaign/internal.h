/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the campaign: what runs find, and where what they write goes. */
#ifndef AS_CAMPAIGN_INTERNAL_H
#define AS_CAMPAIGN_INTERNAL_H

#include <sys/types.h>

#include <assay/campaign.h>

/* What the user gave on standard input. */
struct as_input {
    enum as_input_kind {
        AS_INPUT_OTHER, /* a terminal, /dev/null, closed: as it is */
        AS_INPUT_FILE,  /* read again from where it stood */
        AS_INPUT_STREAM /* read once */
    } kind;
    off_t at;
};

void as_input_note(struct as_input *input);
/* Every run finds it as the first did. */
void as_input_rewind(const struct as_input *input);

/* That of all runs of a campaign, borrowed. */
const struct as_input *as_campaign_input(const struct assay_campaign *campaign);

/* Our streams while a run has others. -1: it was closed. */
struct as_output {
    int own[3];
};

/* Sends what is written to a file in the experiment until _restore. Errors: IO. */
int as_output_divert(struct as_output *output, const struct assay_experiment *experiment,
                     struct assay_error *err);
void as_output_restore(struct as_output *output);
/* What was written goes to the directory of run `run_id` (0: nowhere); an empty file is not kept.
 * Errors: IO, those of the experiment. */
int as_output_keep(struct assay_experiment *experiment, int64_t run_id, struct assay_error *err);

/* Variables that a run has and we had not. */
struct as_variable {
    char *name, *before; /* NULL: there was none */
};

struct as_variables {
    struct as_variable *at;
    size_t n;
};

/* Sets those of the run's settings that are variables, and its further ones. Errors: NOMEM. In any
 * case _restore is to be called. */
int as_variables_set(struct as_variables *variables, const struct assay_campaign_run *run,
                     struct assay_error *err);
void as_variables_restore(struct as_variables *variables);

/* Says that a run is to begin; while our streams are still ours. */
static inline void as_profile_notify_begin(const struct assay_profile_request *request)
{
    if (request->begins)
        request->begins(request->begins_context, request->kind ? request->kind : "profile");
}

#endif
