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

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "compared.h"
#include "experiment_name.h"
#include "recording.h"
#include "report/queries.h"
#include "trial/trial.h"
#include "try.h"
#include "unfinished.h"

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

static void print_trial_news(void *context, const struct as_trial_news *news)
{
    const struct as_cli *cli = context;
    struct as_str line = {0};

    if (news->kind == AS_TRIAL_NEWS_NOTE) {
        as_cli_note(cli, "%s", news->text);
    } else if (news->kind == AS_TRIAL_NEWS_BUILD) {
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

static int parse_budget(const char *text, double *seconds, struct as_error *err)
{
    char *end;

    if (!text)
        return 0;
    *seconds = strtod(text, &end);
    const double unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : 1;
    if (end == text || !(*seconds > 0) || *seconds * unit > 1e7 || (*end && end[1]) ||
        (*end && !strchr("smh", *end)))
        return as_error_set(err, AS_ERR_USAGE,
                            "--budget: invalid time '%s'; use seconds, or minutes such as 5m",
                            text);
    *seconds *= unit;
    return 0;
}

static int parse_tolerance(const struct as_arguments *args, double *tolerance, struct as_error *err)
{
    const char *text = args->value[AS_OPTION_TOLERANCE];
    char *end;

    *tolerance = as_given(args, AS_OPTION_SAME_OUTPUT) ? 0 : TOLERANCE;
    if (as_given(args, AS_OPTION_SAME_OUTPUT) + as_given(args, AS_OPTION_CHECK) +
            as_given(args, AS_OPTION_TOLERANCE) >
        1)
        return as_error_set(err, AS_ERR_USAGE,
                            "--same-output, --tolerance and --check exclude each other; use one "
                            "of them");
    if (!text)
        return 0;
    *tolerance = strtod(text, &end);
    if (end == text || *end || !(*tolerance >= 0) || *tolerance > 1)
        return as_error_set(err, AS_ERR_USAGE,
                            "--tolerance: invalid value '%s'; use a number from 0 to 1, such as "
                            "1e-6",
                            text);
    return 0;
}

static int parse_what(const struct as_arguments *args, unsigned *what, struct as_error *err)
{
    const uint64_t chosen = args->number[AS_OPTION_WHAT];

    *what = !as_given(args, AS_OPTION_WHAT) || chosen >> WHAT_ALL & 1
                ? AS_TRIAL_ALL
                : (unsigned)chosen & AS_TRIAL_ALL;
    if (as_given(args, AS_OPTION_WHAT) && *what == AS_TRIAL_FLAGS &&
        !as_given(args, AS_OPTION_BUILD))
        return as_error_set(err, AS_ERR_USAGE,
                            "--what flags: the build command is missing; add --build 'make "
                            "CFLAGS=\"-O2 {flags}\"'");
    if (as_given(args, AS_OPTION_SOURCE_DIRECTORY) && !as_given(args, AS_OPTION_BUILD))
        return as_error_set(err, AS_ERR_USAGE,
                            "--source: the build command is missing; add --build 'make "
                            "CFLAGS=\"-O2 {flags}\"'");
    return 0;
}

static int parse_trial_request(struct as_cli *cli, struct as_trial_request *request,
                               struct as_error *err)
{
    const struct as_arguments *args = &cli->args;

    *request = (struct as_trial_request){.build = args->value[AS_OPTION_BUILD],
                                         .source = args->value[AS_OPTION_SOURCE_DIRECTORY],
                                         .check = args->value[AS_OPTION_CHECK],
                                         .copy = as_given(args, AS_OPTION_COPY),
                                         .jobs = cli->jobs,
                                         .tell = print_trial_news,
                                         .stop = was_stopped,
                                         .context = cli};
    if (!args->positional_n)
        return as_error_set(err, AS_ERR_USAGE,
                            "try: no command given; use 'assay try -- ./program'");
    AS_TRY(parse_what(args, &request->what, err));
    AS_TRY(parse_tolerance(args, &request->tolerance, err));
    AS_TRY(parse_budget(args->value[AS_OPTION_BUDGET], &request->budget_s, err));
    return as_recording_parse(cli, &request->profile, err);
}

/* ---- The verb ------------------------------------------------------------------------------ */

/* With --build the program need not be there yet. */
static int name_own(struct as_cli *cli, const struct as_trial_request *request,
                    struct as_experiment_name *name, struct as_error *err)
{
    const char *program = cli->args.positional[0], *last = strrchr(program, '/');
    if (!request->build)
        return as_recording_name(cli, &request->profile, name, err);
    return as_experiment_name(cli, last ? last + 1 : program, name, err);
}

/* Its path must hold where the program runs too. */
static int name_from_root(struct as_cli *cli, struct as_experiment_name *name, struct as_error *err)
{
    struct as_str all = {0};
    char here[PATH_MAX];

    if (!as_given(&cli->args, AS_OPTION_COPY) || as_str_z(&name->stem)[0] == '/' ||
        !getcwd(here, sizeof here))
        return 0;
    as_str_appendf(&all, "%s/%s", here, as_str_z(&name->stem));
    as_str_fini(&name->stem);
    name->stem = all;
    return all.failed ? as_error_nomem(err, "the name of the experiment") : 0;
}

static int name_experiment(struct as_cli *cli, const struct as_trial_request *request,
                           struct as_experiment_name *name, struct as_error *err)
{
    AS_TRY(name_own(cli, request, name, err));
    return name_from_root(cli, name, err);
}

static int show_and_close(struct as_cli *cli, struct as_experiment **experiment,
                          const struct as_trial_result *result, const char *name, int rc,
                          struct as_error *err)
{
    const bool is_new = !as_given(&cli->args, AS_OPTION_ADD);
    struct as_error late = {0};

    if (!result->base_run_id && is_new) {
        as_experiment_drop(experiment, err);
        return rc;
    }
    if (result->trial_n) {
        const int shown = as_try_show(cli, *experiment, rc < 0 ? &late : err);
        rc = rc < 0 ? rc : shown;
    }
    const int closed = as_experiment_close(experiment, rc < 0 ? NULL : err);
    if (result->interrupted)
        as_cli_note(cli, "interrupted; finished measurements are shown above");
    as_cli_note(cli, "the experiment is %s", name);
    if (result->interrupted)
        cli->status = 128 + SIGINT;
    return rc < 0 ? rc : closed;
}

static int run_trial(struct as_cli *cli, const struct as_trial_request *request,
                     struct as_experiment **experiment, const char *name, struct as_error *err)
{
    const struct sigaction action = {.sa_handler = note_stop};
    struct as_trial_result result = {0};
    struct sigaction before;

    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
    const int rc = as_trial_run(*experiment, request, &result, err);
    return show_and_close(cli, experiment, &result, name, rc, err);
}

static int try_anew(struct as_cli *cli, struct as_error *err)
{
    struct as_experiment_name name = {0};
    struct as_experiment *experiment = NULL;
    struct as_trial_request request;

    AS_TRY(parse_trial_request(cli, &request, err));
    int rc = name_experiment(cli, &request, &name, err);
    if (rc == 0)
        rc = as_experiment_name_create(cli, &name, &experiment, err);
    if (rc == 0)
        rc = run_trial(cli, &request, &experiment, as_str_z(&name.made), err);
    as_experiment_name_fini(&name);
    return rc;
}

/* ---- An experiment that is there ----------------------------------------------------------- */

/* For --add: the last profile of the experiment, with the findings to test. */
struct earlier {
    int64_t run_id; /* 0: none */
    struct as_arena arena;
    AS_VEC(char *) word; /* its command */
};

static int read_words(struct as_experiment *experiment, struct earlier *it, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_query_open_of(experiment, AS_QUERY_RUN_COMMAND, it->run_id, &rows, err));
    while ((rc = as_rows_next(rows, err)) > 0) {
        const char *text = as_rows_text(rows, 0);
        char *word = text ? as_arena_strndup(&it->arena, text, strlen(text)) : NULL;
        if (!word || as_vec_push(&it->word, word) < 0) {
            rc = as_error_nomem(err, "the command");
            break;
        }
    }
    as_rows_close(&rows);
    return rc;
}

/* Without a command of the user's it is that of the run, which then stands where it ran. */
static int read_earlier(struct as_cli *cli, struct as_experiment *experiment, struct earlier *it,
                        struct as_error *err)
{
    struct as_rows *rows;
    char here[PATH_MAX] = "";
    int rc;

    (void)!getcwd(here, sizeof here);
    AS_TRY(as_query_open(experiment, AS_QUERY_LAST_PROFILE, &rows, err));
    if ((rc = as_rows_next(rows, err)) > 0) {
        const char *cwd = as_rows_text(rows, 2);
        it->run_id = as_rows_integer(rows, 0);
        as_cli_note(cli, "testing the findings of run %lld: %s", (long long)it->run_id,
                    as_rows_text(rows, 1));
        if (!cli->args.positional_n && cwd && strcmp(cwd, here) != 0)
            rc = as_error_set(err, AS_ERR_USAGE,
                              "--add: the program ran in %s; run assay there, or add its command "
                              "after --",
                              cwd);
    }
    as_rows_close(&rows);
    return rc < 0 ? rc : it->run_id ? read_words(experiment, it, err) : 0;
}

/* A command without its secrets does something else. */
static int check_secrets(const struct earlier *it, struct as_error *err)
{
    as_vec_foreach (&it->word, word)
        if (as_secrets_are_in(*word))
            return as_error_set(err, AS_ERR_USAGE,
                                "--add: the stored command lacks its secrets (%s); repeat the "
                                "command after --",
                                *word);
    return 0;
}

static int try_earlier(struct as_cli *cli, struct as_experiment_name *name, struct earlier *earlier,
                       struct as_error *err)
{
    struct as_experiment *experiment = NULL;
    struct as_trial_request request = {0};

    AS_TRY(as_experiment_continue(cli, name, &experiment, err));
    int rc = read_earlier(cli, experiment, earlier, err);
    if (rc == 0 && !cli->args.positional_n)
        rc = check_secrets(earlier, err);
    if (rc == 0 && !cli->args.positional_n && earlier->word.n) {
        if (as_vec_push(&earlier->word, NULL) < 0)
            rc = as_error_nomem(err, "the command");
        cli->args.positional = earlier->word.at;
        cli->args.positional_n = earlier->word.n - 1;
    }
    if (rc == 0)
        rc = parse_trial_request(cli, &request, err);
    request.run_id = earlier->run_id;
    if (rc == 0)
        return run_trial(cli, &request, &experiment, as_str_z(&name->made), err);
    as_experiment_close(&experiment, NULL);
    return rc;
}

static int try_added(struct as_cli *cli, struct as_error *err)
{
    struct as_experiment_name name = {0};
    struct earlier earlier = {0};

    as_arena_init(&earlier.arena);
    int rc = as_experiment_name(cli, "", &name, err);
    if (rc == 0)
        rc = name_from_root(cli, &name, err);
    if (rc == 0)
        rc = try_earlier(cli, &name, &earlier, err);
    as_vec_fini(&earlier.word);
    as_arena_fini(&earlier.arena);
    as_experiment_name_fini(&name);
    return rc;
}

int as_verb_try(struct as_cli *cli, struct as_error *err)
{
    if (as_given(&cli->args, AS_OPTION_READ))
        return as_compared_read(cli, as_try_show, err);
    return as_given(&cli->args, AS_OPTION_ADD) ? try_added(cli, err) : try_anew(cli, err);
}
