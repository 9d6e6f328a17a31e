/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared code of the verbs that make a profile; see profiling.h.
 */
#include "profiling.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "advise/advise.h"
#include "base/term.h"
#include "report/report.h"

/* ---- Being stopped ------------------------------------------------------------------------- */

/* Written before the handler is installed, and constant afterwards. */
static struct {
    char sentence[512];
    size_t n;
    volatile sig_atomic_t is_on;
} stopping;

static void report_stop_signal(int signal)
{
    if (stopping.is_on && write(STDERR_FILENO, stopping.sentence, stopping.n) < 0)
        stopping.is_on = 0;
    raise(signal); /* as if there were no handler: it was reset */
}

void as_stage_guard(const char *experiment)
{
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction say = {.sa_handler = report_stop_signal,
                                  .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    struct sigaction now;
    const int n = snprintf(stopping.sentence, sizeof stopping.sentence,
                           "\nassay: stopped before the samples were attributed; 'assay attribute "
                           "%s' finishes it\n",
                           experiment);

    if (n < 0 || (size_t)n >= sizeof stopping.sentence)
        return;
    stopping.n = (size_t)n;
    stopping.is_on = 1;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        if (sigaction(stops[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(stops[i], &say, NULL);
}

/* ---- Progress ------------------------------------------------------------------------------ */

/* Returns true for caveats of a recording, attribution or import; others are derived later. */
static bool is_of_attribution(const char *name)
{
    static const char *const names[] = {"profile",      "reading",        "reading samples",
                                        "reading code", "adding samples", "summing up"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

void as_stage_show(void *context, const char *name, uint64_t done, uint64_t total)
{
    struct as_stage *stage = context;
    stopping.is_on = is_of_attribution(name);
    if (stage->quiet)
        return;
    if (stage->name != name) {
        if (stage->is_on)
            as_progress_end(&stage->progress);
        as_progress_begin(&stage->progress, STDERR_FILENO, name, total);
        stage->is_on = true;
        stage->name = name;
        stage->done = 0;
    }
    if (done > stage->done)
        as_progress_add(&stage->progress, done - stage->done);
    stage->done = done;
}

void as_stage_pause(struct as_stage *stage)
{
    if (stage->is_on)
        as_progress_end(&stage->progress);
    stage->is_on = false;
    stage->name = NULL;
}

void as_stage_end(struct as_stage *stage)
{
    if (stage->is_on)
        as_progress_end(&stage->progress);
    stage->is_on = false;
    stopping.is_on = 0;
}

void as_advise_quickly(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id)
{
    struct as_error why;
    if (as_advise_run(experiment, run_id, &why) < 0)
        as_cli_complain(cli, &why);
}

/* Text goes beside what the program wrote, JSON where results go. */
int as_summary_show(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                    struct as_error *err)
{
    struct as_out out;
    const size_t width = as_term_width(STDERR_FILENO);
    const struct as_report_text_options options = {
        .width = width && width < 120 ? (unsigned)width
                 : width              ? 120
                                      : 80,
        .colour = as_color_use((enum as_color)cli->args.number[AS_OPTION_COLOR], STDERR_FILENO),
        .utf8 = as_report_locale_is_utf8(),
        .brief = !as_given(&cli->args, AS_OPTION_VERBOSE),
    };
    if (cli->format == AS_FORMAT_JSON) /* as 'assay show --format json' writes it */
        return as_report_profile_json(experiment, run_id, &options, &cli->out, err);
    if (as_given(&cli->args, AS_OPTION_QUIET))
        return 0;
    as_out_init_fd(&out, STDERR_FILENO, "standard error");
    out.clean = true;
    as_out_c(&out, '\n');
    int rc = as_report_profile(experiment, run_id, &options, &out, err);
    (void)as_out_flush(&out, NULL); /* where it could be said that this failed, it failed */
    as_out_fini(&out);
    return rc;
}
