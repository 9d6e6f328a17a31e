/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared code of the verbs that run a command; see recording.h.
 */
#include "recording.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "launch/launch.h"
#include "report/queries.h"
#include "unfinished.h"

/* ---- Options ------------------------------------------------------------------------------- */

static int parse_rate(const char *text, uint32_t *rate, struct as_error *err)
{
    static const struct {
        const char *word;
        uint32_t rate;
    } known[] = {{"low", AS_RATE_LOW}, {"medium", AS_RATE_MEDIUM}, {"high", AS_RATE_HIGH}};
    char *end;
    *rate = AS_RATE_MEDIUM;
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
        return as_error_set(err, AS_ERR_USAGE,
                            "--rate: invalid value '%s'; use low, medium, high or 1 to 20000 "
                            "samples per second",
                            text);
    *rate = (uint32_t)value;
    return 0;
}

static int parse_duration(const char *text, double *seconds, struct as_error *err)
{
    char *end;
    *seconds = 0;
    if (!text)
        return 0;
    *seconds = strtod(text, &end);
    if (end == text || *end || !(*seconds > 0) || *seconds > 1e9)
        return as_error_set(err, AS_ERR_USAGE,
                            "--duration: invalid value '%s'; use seconds, such as 30 or 0.5", text);
    return 0;
}

#define LOOK_USUAL_S 10.0 /* at a process that is timed or counted */

/* A command that is run several times runs to its end; a process is looked at for so long. */
static int check_times(const struct as_arguments *args, struct as_profile_request *request,
                       struct as_error *err)
{
    if (args->verb != AS_VERB_VPROF && args->verb != AS_VERB_COUNT)
        return 0;
    if (request->command && request->duration_s > 0)
        return as_error_set(err, AS_ERR_USAGE,
                            "--duration: only with --pid for this verb; remove it, the command "
                            "runs to its end");
    if (!request->command && request->duration_s <= 0)
        request->duration_s = LOOK_USUAL_S;
    return 0;
}

int as_recording_size(const char *option, const char *text, uint64_t *size_b, struct as_error *err)
{
    char *end;
    *size_b = 0;
    if (!text)
        return 0;
    const double value = strtod(text, &end);
    const char *units = "KMGT", *unit = *end ? strchr(units, *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end == text || !(value > 0) || value > 1e15 || (*end && (!unit || end[1])))
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: invalid size '%s'; use bytes, or a number with K, M, G or T",
                            option, text);
    *size_b = (uint64_t)(value * (double)(UINT64_C(1) << shift));
    return 0;
}

/* Limits of the kernel; a smaller copy hardly has a frame. */
#define STACK_LEAST_B 1024u
#define STACK_MOST_B  65528u

static int parse_stack_size(const char *text, struct as_sample_options *sampling,
                            struct as_error *err)
{
    uint64_t size_b = 0;
    AS_TRY(as_recording_size("--stack-size", text, &size_b, err));
    if (text && sampling->stacks != AS_STACKS_DWARF)
        return as_error_set(err, AS_ERR_USAGE,
                            "--stack-size: only with --call-stacks dwarf; remove one of the two");
    /* 64K are meant to be the most. */
    if (text && (size_b < STACK_LEAST_B || size_b > 65536))
        return as_error_set(err, AS_ERR_USAGE,
                            "--stack-size: '%s' is out of range; use %u to %u bytes", text,
                            STACK_LEAST_B, STACK_MOST_B);
    sampling->stack_b = (uint32_t)(size_b > STACK_MOST_B ? STACK_MOST_B : size_b);
    return 0;
}

/* A process that runs already is not for every verb. */
static int no_command(const struct as_arguments *args, struct as_error *err)
{
    const char *verb = as_verbs[args->verb].name;
    char attach[64] = "";
    if (as_option_of_verb(&as_options[AS_OPTION_PID], args->verb))
        snprintf(attach, sizeof attach, " or 'assay %s --pid N'", verb);
    return as_error_set(err, AS_ERR_USAGE, "%s: no command given; use 'assay %s -- ./program'%s",
                        verb, verb, attach);
}

int as_recording_parse(struct as_cli *cli, struct as_profile_request *request, struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    *request = (struct as_profile_request){
        .label = args->value[AS_OPTION_LABEL],
        .events = args->value[AS_OPTION_EVENTS],
        .pid = (pid_t)args->number[AS_OPTION_PID],
        .regions = as_given(args, AS_OPTION_REGIONS),
        .objects = as_given(args, AS_OPTION_OBJECTS),
        .sampling = {.event = (uint8_t)args->number[AS_OPTION_EVENT],
                     .kernel = args->number[AS_OPTION_SCOPE] == 0,
                     .no_children = as_given(args, AS_OPTION_NO_CHILDREN)},
        .attribute = {.jobs = cli->jobs, .categories = args->value[AS_OPTION_CATEGORIES]}};
    static const uint8_t stacks[] = {AS_STACKS_DWARF, AS_STACKS_FRAME, AS_STACKS_LBR,
                                     AS_STACKS_OFF};
    request->sampling.stacks = stacks[args->number[AS_OPTION_CALL_STACKS]];
    if (request->sampling.stacks == AS_STACKS_LBR && request->sampling.event > AS_EVENT_REF_CYCLES)
        return as_error_set(err, AS_ERR_USAGE,
                            "--call-stacks: lbr needs --event cycles or ref-cycles, not %s; "
                            "remove one of the two",
                            args->value[AS_OPTION_EVENT]);
    if (args->positional_n)
        request->command = (const char *const *)args->positional;
    if (request->command && as_given(args, AS_OPTION_PID))
        return as_error_set(err, AS_ERR_USAGE,
                            "--pid: there is a command too; remove one of the two");
    if (!request->command && !as_given(args, AS_OPTION_PID))
        return no_command(args, err);
    if (request->objects && request->pid)
        return as_error_set(err, AS_ERR_USAGE,
                            "--objects: not possible with --pid, earlier allocations are unknown; "
                            "run the program with assay");
    AS_TRY(parse_rate(args->value[AS_OPTION_RATE], &request->sampling.rate_hz, err));
    AS_TRY(parse_duration(args->value[AS_OPTION_DURATION], &request->duration_s, err));
    AS_TRY(check_times(args, request, err));
    AS_TRY(parse_stack_size(args->value[AS_OPTION_STACK_SIZE], &request->sampling, err));
    return as_recording_size("--max-size", args->value[AS_OPTION_MAX_SIZE], &request->max_b, err);
}

/* ---- The experiment ------------------------------------------------------------------------ */

/* The program that a command is about: behind a launcher the first word that can be executed. */
static const char *program_of(const struct as_launch_plan *plan)
{
    const bool launcher = plan->kind == AS_LAUNCH_OPENMPI || plan->kind == AS_LAUNCH_MPICH ||
                          plan->kind == AS_LAUNCH_SRUN;
    for (size_t i = 1; launcher && plan->argv[i]; i++) {
        const char *const word[] = {plan->argv[i], NULL};
        struct as_launch_plan *inner;
        if (word[0][0] == '-' || as_launch_plan(word, &inner, NULL) < 0)
            continue;
        as_launch_plan_free(&inner);
        return as_path_last(plan->argv[i]);
    }
    return as_path_last(plan->argv[0]);
}

int as_recording_name(struct as_cli *cli, const struct as_profile_request *request,
                      struct as_experiment_name *name, struct as_error *err)
{
    struct as_launch_plan *plan = NULL;
    char text[64];
    int rc;
    if (request->command)
        AS_TRY(as_launch_plan(request->command, &plan, err));
    if (plan && plan->away)
        as_cli_note(cli,
                    "%s: %s; only its local child processes can be observed: put 'assay %s' "
                    "behind the launcher, before the program",
                    plan->argv[0], plan->away_reason, as_verbs[cli->args.verb].name);
    snprintf(text, sizeof text, "process-%d", (int)request->pid);
    rc = as_experiment_name(cli, plan ? program_of(plan) : text, name, err);
    as_launch_plan_free(&plan);
    return rc;
}

int as_recording_place(struct as_experiment *experiment, enum as_object_kind kind, int64_t id,
                       uint64_t address, struct as_str *out, struct as_error *err)
{
    const bool is_loop = kind == AS_OBJECT_LOOP;
    struct as_rows *rows;
    AS_TRY(as_query_open_of(experiment, is_loop ? AS_QUERY_LOOP_PLACE : AS_QUERY_FUNCTION_PLACE, id,
                            &rows, err));
    const int rc = as_rows_next(rows, err);
    const char *file = rc > 0 ? as_rows_text(rows, 1) : NULL;
    if (rc > 0)
        as_str_appendz(out, as_rows_text(rows, 0));
    if (file)
        as_str_appendf(out, " %s:%lld", as_path_last(file), (long long)as_rows_integer(rows, 2));
    else if (is_loop)
        as_str_appendf(out, " 0x%llx", (unsigned long long)address);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

int as_recording_close(struct as_experiment **experiment, int64_t run_id, int rc,
                       struct as_error *err)
{
    if (rc < 0 && run_id == 0)
        as_experiment_drop(experiment, err);
    else if (rc < 0)
        as_unfinished_add(err, *experiment, run_id);
    const int closed = as_experiment_close(experiment, rc < 0 ? NULL : err);
    return rc < 0 ? rc : closed;
}

void as_recording_end(struct as_cli *cli, struct as_experiment_name *name,
                      const struct as_profile_result *result, bool interrupted, int rc)
{
    if (rc == 0)
        as_experiment_name_print(cli, name);
    as_experiment_name_fini(name);
    as_end_like(cli, result);
    if (interrupted)
        cli->status = 128 + SIGINT;
}

void as_end_like(struct as_cli *cli, const struct as_profile_result *result)
{
    if (result->exit_signal)
        cli->status = 128 + result->exit_signal;
    else if (result->exit_code > 0)
        cli->status = result->exit_code;
}
