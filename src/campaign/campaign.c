/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program repeatedly under the same conditions. Before main(), launch/ restores what a child
 * inherits otherwise: signals, limits, CPU affinity. This file restores the standard input,
 * directory and variables that assay had at its start.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "campaign/internal.h"

struct as_campaign {
    struct as_input input;
    int directory; /* -1 = unknown */
    uint64_t run_n;
};

int as_campaign_open(struct as_campaign **out, struct as_error *err)
{
    struct as_campaign *it = as_calloc(1, sizeof *it);

    *out = it;
    if (!it)
        return as_error_nomem(err, "the runs of a program");
    it->directory = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    as_input_note(&it->input);
    return 0;
}

const struct as_input *as_campaign_input(const struct as_campaign *campaign)
{
    return &campaign->input;
}

void as_campaign_close(struct as_campaign **campaign)
{
    if (*campaign && (*campaign)->directory >= 0)
        close((*campaign)->directory);
    as_free(*campaign);
    *campaign = NULL;
}

int as_campaign_check(const struct as_campaign *campaign, uint64_t run_n, struct as_error *err)
{
    if (campaign->input.kind != AS_INPUT_STREAM || campaign->run_n + run_n <= 1)
        return 0;
    return as_error_set(err, AS_ERR_UNSUPPORTED,
                        "standard input: a pipe can be read by the first run only; use a file ('< "
                        "FILE') or no input ('< /dev/null')");
}

/* ---- Variables ----------------------------------------------------------------------------- */

#define ENV   "env:"
#define ENV_N (sizeof ENV - 1)

static char *copied_text(const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = as_malloc(n);

    return copy ? memcpy(copy, text, n) : NULL;
}

static int set_variable(struct as_variables *variables, const struct as_setting *it)
{
    if (strncmp(it->name, ENV, ENV_N) != 0)
        return 0;
    struct as_variable *variable = &variables->at[variables->n];
    const char *before = getenv(it->name + ENV_N);
    *variable = (struct as_variable){.name = copied_text(it->name + ENV_N),
                                     .before = before ? copied_text(before) : NULL};
    variables->n++;
    if (!variable->name || (before && !variable->before))
        return AS_ERR_NOMEM;
    return (it->value ? setenv(variable->name, it->value, 1) : unsetenv(variable->name)) == 0
               ? 0
               : AS_ERR_NOMEM;
}

int as_variables_set(struct as_variables *variables, const struct as_campaign_run *run,
                     struct as_error *err)
{
    int rc = 0;

    variables->n = 0;
    variables->at = as_calloc(run->profile.setting_n + run->variable_n + 1, sizeof *variables->at);
    if (!variables->at)
        rc = AS_ERR_NOMEM;
    for (size_t i = 0; i < run->variable_n && rc == 0; i++)
        rc = set_variable(variables, &run->variable[i]);
    for (size_t i = 0; i < run->profile.setting_n && rc == 0; i++)
        rc = set_variable(variables, &run->profile.setting[i]);
    return rc < 0 ? as_error_nomem(err, "the variables of a run") : 0;
}

/* Restores in reverse order: of two settings of one variable, the first has the original value. */
void as_variables_restore(struct as_variables *variables)
{
    while (variables->n) {
        struct as_variable *it = &variables->at[--variables->n];

        if (it->name && it->before)
            (void)setenv(it->name, it->before, 1);
        else if (it->name)
            (void)unsetenv(it->name);
        as_free(it->name);
        as_free(it->before);
    }
    as_free(variables->at);
    variables->at = NULL;
}

/* ---- Runs ---------------------------------------------------------------------------------- */

/* Runs the program with our streams, or with redirected output that is kept. */
static int run_with_streams(struct as_campaign *campaign, struct as_experiment *experiment,
                            const struct as_campaign_run *run, struct as_profile_result *result,
                            struct as_error *err)
{
    struct as_output output = {.own = {-1, -1, -1}};
    struct as_error late = {0};

    as_profile_notify_begin(&run->profile);
    as_input_rewind(&campaign->input);
    if (!run->keep_output)
        return as_profile_run(experiment, &run->profile, result, err);
    AS_TRY(as_output_divert(&output, experiment, err));
    const int rc = as_profile_run(experiment, &run->profile, result, err);
    as_output_restore(&output);
    const int kept = as_output_keep(experiment, result->run_id, &late);
    if (rc == 0 && kept < 0) {
        if (err)
            *err = late;
        return kept;
    }
    return rc;
}

/* Runs the program in the user's working directory, whatever the current one is. */
static int run_at_home(struct as_campaign *campaign, struct as_experiment *experiment,
                       const struct as_campaign_run *run, struct as_profile_result *result,
                       struct as_error *err)
{
    const int here = campaign->directory < 0 ? -1 : open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (campaign->directory >= 0)
        (void)!fchdir(campaign->directory);
    const int rc = run_with_streams(campaign, experiment, run, result, err);
    if (here >= 0) {
        (void)!fchdir(here);
        close(here);
    }
    return rc;
}

int as_campaign_run(struct as_campaign *campaign, struct as_experiment *experiment,
                    const struct as_campaign_run *run, struct as_profile_result *result,
                    struct as_error *err)
{
    struct as_variables variables;

    *result = (struct as_profile_result){.exit_code = -1};
    AS_TRY(as_campaign_check(campaign, 1, err));
    int rc = as_variables_set(&variables, run, err);
    if (rc == 0)
        rc = run_at_home(campaign, experiment, run, result, err);
    as_variables_restore(&variables);
    campaign->run_n += result->run_id != 0;
    return rc;
}
