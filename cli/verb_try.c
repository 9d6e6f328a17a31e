/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay try -- CMD...`: tries what might make a command faster, and says what it measured.
 */
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <assay/trial.h>

#include "base/error.h"
#include "base/str.h"
#include "compared.h"
#include "experiment_name.h"
#include "recording.h"
#include "try.h"

#define TOLERANCE 1e-6
/* Of --what. */
#define WHAT_ALL 4

/* Set by Ctrl-C between runs and during builds; during a run the launch has the signal. */
static volatile sig_atomic_t is_stopped;

static void note_stop(int signal)
{
    (void)signal;
    is_stopped = 1;
}

static bool was_stopped(void *context)
{
    (void)context;
    return is_stopped != 0;
}

/* ---- Progress ------------------------------------------------------------------------------ */

static void append_time(struct as_str *out, double seconds)
{
    if (seconds >= 120)
        as_str_appendf(out, "%.0f minutes", ceil(seconds / 60));
    else
        as_str_appendf(out, "%.0f s", ceil(seconds));
}

static void tell_news(void *context, const struct assay_trial_news *news)
{
    const struct as_cli *cli = context;
    struct as_str line = {0};

    if (news->kind == ASSAY_TRIAL_NEWS_NOTE) {
        as_cli_note(cli, "%s", news->text);
    } else if (news->kind == ASSAY_TRIAL_NEWS_BUILD) {
        as_cli_note(cli, "build %zu of %zu: %s", news->number, news->all, news->text);
    } else {
        as_str_appendf(&line, "round %zu, %zu in it, at most ", news->number, news->all);
        append_time(&line, news->left_s);
        as_str_appendf(&line, " left: %s", news->text);
        if (news->best)
            as_str_appendf(&line, "; best so far: %s, -%.2f s of %.2f s", news->best, news->best_s,
                           news->of_s);
        as_cli_note(cli, "%s", as_str_z(&line));
    }
    as_str_fini(&line);
}

/* ---- Options ------------------------------------------------------------------------------- */

static int take_budget(const char *text, double *seconds, struct assay_error *err)
{
    char *end;

    if (!text)
        return 0;
    *seconds = strtod(text, &end);
    const double unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : 1;
    if (end == text || !(*seconds > 0) || *seconds * unit > 1e7 || (*end && end[1]) ||
        (*end && !strchr("smh", *end)))
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--budget: '%s' is no time; write seconds, or minutes as in 5m", text);
    *seconds *= unit;
    return 0;
}

static int take_tolerance(const struct as_arguments *args, double *tolerance,
                          struct assay_error *err)
{
    const char *text = args->value[AS_OPTION_TOLERANCE];
    char *end;

    *tolerance = as_given(args, AS_OPTION_SAME_OUTPUT) ? 0 : TOLERANCE;
    if (as_given(args, AS_OPTION_SAME_OUTPUT) + as_given(args, AS_OPTION_CHECK) +
            as_given(args, AS_OPTION_TOLERANCE) >
        1)
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--same-output, --tolerance and --check each say how results are "
                            "judged; give one of them");
    if (!text)
        return 0;
    *tolerance = strtod(text, &end);
    if (end == text || *end || !(*tolerance >= 0) || *tolerance > 1)
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--tolerance: '%s' is no number from 0 to 1; write it as in 1e-6",
                            text);
    return 0;
}

static int take_what(const struct as_arguments *args, unsigned *what, struct assay_error *err)
{
    const uint64_t chosen = args->number[AS_OPTION_WHAT];

    *what = !as_given(args, AS_OPTION_WHAT) || chosen >> WHAT_ALL & 1
                ? ASSAY_TRIAL_ALL
                : (unsigned)chosen & ASSAY_TRIAL_ALL;
    if (as_given(args, AS_OPTION_WHAT) && *what == ASSAY_TRIAL_FLAGS &&
        !as_given(args, AS_OPTION_BUILD))
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--what flags: how is the program built? add --build 'make "
                            "CFLAGS=\"-O2 {flags}\"'");
    if (as_given(args, AS_OPTION_SOURCE_DIRECTORY) && !as_given(args, AS_OPTION_BUILD))
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--source: how is it built? add --build 'make CFLAGS=\"-O2 {flags}\"'");
    return 0;
}

static int take_trial(struct as_cli *cli, struct assay_trial_request *request,
                      struct assay_error *err)
{
    const struct as_arguments *args = &cli->args;

    *request = (struct assay_trial_request){.build = args->value[AS_OPTION_BUILD],
                                            .source = args->value[AS_OPTION_SOURCE_DIRECTORY],
                                            .check = args->value[AS_OPTION_CHECK],
                                            .copy = as_given(args, AS_OPTION_COPY),
                                            .jobs = cli->jobs,
                                            .tell = tell_news,
                                            .stop = was_stopped,
                                            .context = cli};
    if (!args->positional_n)
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "try: no command given; write 'assay try -- ./program'");
    AS_TRY(take_what(args, &request->what, err));
    AS_TRY(take_tolerance(args, &request->tolerance, err));
    AS_TRY(take_budget(args->value[AS_OPTION_BUDGET], &request->budget_s, err));
    return as_recording_take(cli, &request->profile, err);
}

/* ---- The verb ------------------------------------------------------------------------------ */

/* With --build the program need not be there yet. */
static int name_own(struct as_cli *cli, const struct assay_trial_request *request,
                    struct as_experiment_name *name, struct assay_error *err)
{
    const char *program = cli->args.positional[0], *last = strrchr(program, '/');
    if (!request->build)
        return as_recording_name(cli, &request->profile, name, err);
    return as_experiment_name(cli, last ? last + 1 : program, name, err);
}

/* Its path must hold where the program runs too. */
static int name_experiment(struct as_cli *cli, const struct assay_trial_request *request,
                           struct as_experiment_name *name, struct assay_error *err)
{
    struct as_str all = {0};
    char here[PATH_MAX];

    AS_TRY(name_own(cli, request, name, err));
    if (!request->copy || as_str_z(&name->stem)[0] == '/' || !getcwd(here, sizeof here))
        return 0;
    as_str_appendf(&all, "%s/%s", here, as_str_z(&name->stem));
    as_str_fini(&name->stem);
    name->stem = all;
    return all.failed ? as_error_nomem(err, "the name of the experiment") : 0;
}

static int show_and_close(struct as_cli *cli, struct assay_experiment **experiment,
                          const struct assay_trial_result *result, const char *name, int rc,
                          struct assay_error *err)
{
    struct assay_error late = {0};

    if (!result->base_run_id) {
        assay_experiment_discard(experiment);
        return rc;
    }
    if (result->trial_n) {
        const int shown = as_try_show(cli, *experiment, rc < 0 ? &late : err);
        rc = rc < 0 ? rc : shown;
    }
    const int closed = assay_experiment_close(experiment, rc < 0 ? NULL : err);
    if (result->interrupted)
        as_cli_note(cli, "ended by the user; what was measured stands above");
    as_cli_note(cli, "the experiment is %s", name);
    if (result->interrupted)
        cli->status = 128 + SIGINT;
    return rc < 0 ? rc : closed;
}

static int run_trial(struct as_cli *cli, const struct assay_trial_request *request,
                     struct assay_error *err)
{
    const struct sigaction action = {.sa_handler = note_stop};
    struct as_experiment_name name = {0};
    struct assay_experiment *experiment = NULL;
    struct assay_trial_result result = {0};
    struct sigaction before;

    int rc = name_experiment(cli, request, &name, err);
    if (rc == 0)
        rc = as_experiment_create(cli, &name, &experiment, err);
    if (rc == 0) {
        if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(SIGINT, &action, NULL);
        rc = assay_trial_run(experiment, request, &result, err);
        rc = show_and_close(cli, &experiment, &result, as_str_z(&name.made), rc, err);
    }
    as_experiment_name_fini(&name);
    return rc;
}

int as_verb_try(struct as_cli *cli, struct assay_error *err)
{
    struct assay_trial_request request;
    if (as_given(&cli->args, AS_OPTION_READ))
        return as_compared_read(cli, as_try_show, err);
    AS_TRY(take_trial(cli, &request, err));
    return run_trial(cli, &request, err);
}
