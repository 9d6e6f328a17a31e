/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay profile -- CMD...`: records a run of a command into an experiment and says where its time
 * went. What the command writes and reads is its own; the summary goes to standard error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/launch.h>
#include <assay/profile.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/str.h"
#include "base/term.h"
#include "cli.h"
#include "profiling.h"
#include "program.h"

/* ---- Options ------------------------------------------------------------------------------- */

static int take_rate(const char *text, uint32_t *rate, struct assay_error *err)
{
    static const struct {
        const char *word;
        uint32_t rate;
    } known[] = {{"low", ASSAY_RATE_LOW}, {"medium", ASSAY_RATE_MEDIUM}, {"high", ASSAY_RATE_HIGH}};
    char *end;
    *rate = ASSAY_RATE_MEDIUM;
    if (!text)
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(text, known[i].word) == 0) {
            *rate = known[i].rate;
            return 0;
        }
    }
    const unsigned long value = strtoul(text, &end, 10);
    if (*end || text[0] < '0' || text[0] > '9' || value < 1 || value > 20000)
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--rate: '%s' is no rate; write low, medium, high or samples a second "
                            "from 1 to 20000",
                            text);
    *rate = (uint32_t)value;
    return 0;
}

static int take_duration(const char *text, double *seconds, struct assay_error *err)
{
    char *end;
    *seconds = 0;
    if (!text)
        return 0;
    *seconds = strtod(text, &end);
    if (end == text || *end || !(*seconds > 0) || *seconds > 1e9)
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--duration: '%s' is no time; write seconds, as in 30 or 0.5", text);
    return 0;
}

static int take_size(const char *text, uint64_t *size_b, struct assay_error *err)
{
    char *end;
    *size_b = 0;
    if (!text)
        return 0;
    const double value = strtod(text, &end);
    const char *units = "KMGT", *unit = *end ? strchr(units, *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end == text || !(value > 0) || value > 1e15 || (*end && (!unit || end[1])))
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--max-size: '%s' is no size; write bytes, or a number with K, M, G or "
                            "T",
                            text);
    *size_b = (uint64_t)(value * (double)(UINT64_C(1) << shift));
    return 0;
}

static int take_request(struct as_cli *cli, struct assay_profile_request *request,
                        struct assay_error *err)
{
    const struct as_arguments *args = &cli->args;
    *request = (struct assay_profile_request){
        .label = args->value[AS_OPTION_LABEL],
        .pid = (pid_t)args->number[AS_OPTION_PID],
        .sampling = {.event = (uint8_t)args->number[AS_OPTION_EVENT],
                     .kernel = args->number[AS_OPTION_SCOPE] == 0,
                     .no_children = as_given(args, AS_OPTION_NO_CHILDREN)},
        .attribute = {.jobs = cli->jobs, .categories = args->value[AS_OPTION_CATEGORIES]}};
    static const uint8_t stacks[] = {ASSAY_STACKS_DWARF, ASSAY_STACKS_FRAME, ASSAY_STACKS_OFF};
    request->sampling.stacks = stacks[args->number[AS_OPTION_CALL_STACKS]];
    if (args->positional_n)
        request->command = (const char *const *)args->positional;
    if (request->command && as_given(args, AS_OPTION_PID))
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--pid: a command is given too; profile one or the other");
    if (!request->command && !as_given(args, AS_OPTION_PID))
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "profile: no command given; write 'assay profile -- ./program' or "
                            "'assay profile --pid N'");
    AS_TRY(take_rate(args->value[AS_OPTION_RATE], &request->sampling.rate_hz, err));
    AS_TRY(take_duration(args->value[AS_OPTION_DURATION], &request->duration_s, err));
    return take_size(args->value[AS_OPTION_MAX_SIZE], &request->max_b, err);
}

/* ---- The experiment ------------------------------------------------------------------------ */

/* The program that a command is about: behind a launcher the first word that can be executed. */
static const char *program_of(const struct assay_launch_plan *plan)
{
    const bool launcher = plan->kind == ASSAY_LAUNCH_OPENMPI || plan->kind == ASSAY_LAUNCH_MPICH ||
                          plan->kind == ASSAY_LAUNCH_SRUN;
    for (size_t i = 1; launcher && plan->argv[i]; i++) {
        const char *const word[] = {plan->argv[i], NULL};
        struct assay_launch_plan *inner;
        if (word[0][0] == '-' || assay_launch_plan(word, &inner, NULL) < 0)
            continue;
        assay_launch_plan_free(&inner);
        return as_last_part(plan->argv[i]);
    }
    return as_last_part(plan->argv[0]);
}

/* Looks at the command before anything is made, and finds the experiment's name. */
static int choose_name(struct as_cli *cli, const struct assay_profile_request *request,
                       struct as_str *name, struct assay_error *err)
{
    struct assay_launch_plan *plan = NULL;
    char text[64];
    const char *given = cli->args.value[AS_OPTION_EXPERIMENT];
    if (request->command)
        AS_TRY(assay_launch_plan(request->command, &plan, err));
    if (plan && plan->away)
        as_cli_note(cli,
                    "%s: %s; only what runs here as its child is seen: put 'assay profile' "
                    "behind the launcher, before the program",
                    plan->argv[0], plan->away_reason);
    if (given) {
        as_str_appendz(name, given);
    } else {
        snprintf(text, sizeof text, "process-%d", (int)request->pid);
        as_free_name(plan ? program_of(plan) : text, name);
    }
    assay_launch_plan_free(&plan);
    return name->failed ? as_error_nomem(err, "the experiment's name") : 0;
}

/* ---- The verb ------------------------------------------------------------------------------ */

static int profile_into(struct as_cli *cli, const char *name,
                        const struct assay_profile_request *asked,
                        struct assay_profile_result *result, struct assay_error *err)
{
    struct assay_profile_request request = *asked;
    struct assay_experiment *experiment;
    struct as_stage stage = {.quiet = as_given(&cli->args, AS_OPTION_QUIET)};
    const unsigned flags = as_given(&cli->args, AS_OPTION_FORCE) ? ASSAY_EXPERIMENT_FORCE : 0;
    AS_TRY(assay_experiment_create(name, flags, &experiment, err));
    request.attribute.progress = as_stage_show;
    request.attribute.context = &stage;
    int rc = assay_profile_run(experiment, &request, result, err);
    as_stage_end(&stage);
    if (rc == 0)
        rc = as_summary_show(cli, experiment, result->run_id, err);
    if (rc < 0 && result->run_id == 0)
        assay_experiment_discard(&experiment);
    const int closed = assay_experiment_close(&experiment, rc < 0 ? NULL : err);
    return rc < 0 ? rc : closed;
}

int as_verb_profile(struct as_cli *cli, struct assay_error *err)
{
    struct assay_profile_request request;
    struct assay_profile_result result = {.exit_code = -1};
    struct as_str name = {0};
    AS_TRY(take_request(cli, &request, err));
    int rc = choose_name(cli, &request, &name, err);
    if (rc == 0)
        rc = profile_into(cli, as_str_z(&name), &request, &result, err);
    if (rc == 0)
        as_cli_note(cli, "the experiment is %s", as_str_z(&name));
    as_str_fini(&name);
    /* As the program ended, so do we. */
    if (result.exit_signal)
        cli->status = 128 + result.exit_signal;
    else if (result.exit_code > 0)
        cli->status = result.exit_code;
    return rc;
}
