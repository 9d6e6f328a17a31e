/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay script FILE.lua [BIN|EXP] [ARG...]`: a user's own analysis.
 */
#include <signal.h>
#include <sys/time.h>

#include "base/error.h"
#include "predict.h"
#include "query_limits.h"
#include "script/script.h"

#include "machine/machine.h"

#define STATUS_IS_FALSE 1

static volatile sig_atomic_t script_interrupted;

static void note_script_interrupt(int signal)
{
    (void)signal;
    script_interrupted = 1;
}

static void note_interrupts(void)
{
    const struct sigaction interrupt = {.sa_handler = note_script_interrupt,
                                        .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &interrupt, NULL);
}

/* ---- What the script asks for ---------------------------------------------------------------- */

static int open_for_script(void *context, const char *path, struct as_object **out,
                           struct as_error *err)
{
    return as_cli_open_object(context, path, out, err);
}

static int machine_for_script(void *context, struct as_uarch **uarch, struct as_figures **figures,
                              struct as_error *err)
{
    struct as_cli *cli = context;
    struct as_uarch_choice choice;
    AS_TRY(as_core_open(cli, uarch, &choice, err));
    return as_given(&cli->args, AS_OPTION_MACHINE) ? 0 : as_figures_of_host(figures, err);
}

static void write_for_script(void *context, const char *text, size_t n)
{
    struct as_cli *cli = context;
    as_out_write(&cli->out, text, n);
}

/* ---- The verb -------------------------------------------------------------------------------- */

int as_verb_script(struct as_cli *cli, struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    const size_t named = args->positional_n > 1 ? 2 : 1;
    struct as_limits limits;
    struct as_script_result result;
    AS_TRY(as_limits_of(args, &limits, err));
    const struct as_script_request request = {.path = args->positional[0],
                                              .subject = named > 1 ? args->positional[1] : NULL,
                                              .argument =
                                                  (const char *const *)args->positional + named,
                                              .argument_n = args->positional_n - named,
                                              .trusted = as_given(args, AS_OPTION_TRUSTED),
                                              .time_limit_ns = limits.time_s * 1000000000u,
                                              .memory_limit_b = limits.memory_mib << 20,
                                              .interrupted = &script_interrupted,
                                              .jobs = cli->jobs,
                                              .open = open_for_script,
                                              .machine = machine_for_script,
                                              .write = write_for_script,
                                              .context = cli};
    note_interrupts();
    as_limits_watch(
        &limits, ITIMER_REAL,
        "assay: script: stopped: a call exceeded --time-limit, and the output is lost; raise the "
        "limit\n");
    const int rc = as_script_run(&request, &result, err);
    as_limits_watch_no_more(ITIMER_REAL);
    if (result.interrupted)
        cli->status = 128 + SIGINT;
    else if (result.is_false)
        cli->status = STATUS_IS_FALSE;
    return rc;
}
