/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay roofline -- CMD...` and `assay roofline EXP`: points of loops and functions beside the
 * ceilings of the machine.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "counting.h"
#include "destination.h"
#include "machine_page.h"
#include "roofline_view.h"

/* Reads the roofline that the arrows start at, if one is wanted. The names in it need its
 * experiment, so both stay open. */
static int read_before(struct as_cli *cli, const struct as_figures *figures,
                       struct as_experiment **experiment, struct as_roofline **out,
                       struct as_error *err)
{
    const char *path = cli->args.value[AS_OPTION_ROOF_BEFORE];
    if (!path)
        return 0;
    AS_TRY(as_experiment_read(path, experiment, err));
    return as_roofline_read(*experiment, 0, figures, out, err);
}

static int write_svg(struct as_cli *cli, const struct as_roofline *it,
                     const struct as_roofline *before, struct as_error *err)
{
    const char *path = cli->args.value[AS_OPTION_ROOF_SVG];
    struct as_outfile file = {0};
    struct as_str text = {0};
    if (!path)
        return 0;
    const size_t arrows = as_roofline_svg(it, before, &text);
    int rc = text.failed
                 ? as_error_nomem(err, path)
                 : as_destination_begin(&cli->args, AS_OPTION_ROOF_SVG, path, 0, &file, err);
    if (rc == 0)
        rc = as_outfile_fill(&file, text.p, text.n, err);
    as_str_fini(&text);
    if (rc == 0 && before && arrows == 0)
        as_cli_note(cli, "--before: the chart has no arrows: the two runs have no points of the "
                         "same name with flops");
    return rc;
}

static int show_run(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                    struct as_error *err)
{
    const char *machine = cli->args.value[AS_OPTION_ROOF_MACHINE];
    struct as_figures *figures = NULL;
    struct as_roofline *roofline = NULL, *before = NULL;
    struct as_experiment *older = NULL;
    if (machine)
        AS_TRY(as_machine_open(machine, &figures, err));
    int rc = read_before(cli, figures, &older, &before, err);
    if (rc == 0)
        rc = as_roofline_read(experiment, run_id, figures, &roofline, err);
    if (rc == 0 && cli->format == AS_FORMAT_TEXT)
        rc = as_roofline_text(cli, roofline, err);
    else if (rc == 0 && cli->format == AS_FORMAT_CSV)
        as_roofline_csv(cli, roofline);
    else if (rc == 0)
        as_roofline_json(cli, experiment, roofline);
    if (rc == 0)
        rc = write_svg(cli, roofline, before, err);
    as_roofline_free(&before);
    as_experiment_close(&older, NULL);
    as_roofline_free(&roofline);
    as_figures_free(&figures);
    return rc;
}

static int show_counted_roofline(struct as_cli *cli, struct as_experiment *experiment,
                                 const struct as_count_result *result, struct as_error *err)
{
    if (result->counted_run)
        return show_run(cli, experiment, result->profile.run_id, err);
    as_cli_note(cli, result->interrupted ? "interrupted before all was counted"
                                         : "no function of the program could be counted: run "
                                           "'assay count' for the reasons");
    return 0;
}

static int refuse_recording(const struct as_arguments *args, struct as_error *err)
{
    return as_given(args, AS_OPTION_EXPERIMENT)
               ? as_error_set(err, AS_ERR_USAGE,
                              "--output: nothing is recorded for the experiment '%s'; remove the "
                              "option",
                              args->positional[0])
               : 0;
}

/* Opens the file before anything runs, and leaves it as it was. */
static int check_svg(const struct as_arguments *args, const char *path, struct as_error *err)
{
    struct as_outfile file = {0};
    AS_TRY(as_destination_begin(args, AS_OPTION_ROOF_SVG, path, 0, &file, err));
    as_outfile_end(&file, AS_ERR_IO, NULL);
    return 0;
}

int as_verb_roofline(struct as_cli *cli, struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    const char *svg = args->value[AS_OPTION_ROOF_SVG];
    struct as_experiment *experiment = NULL;
    if (svg)
        AS_TRY(check_svg(args, svg, err));
    else if (as_given(args, AS_OPTION_ROOF_BEFORE))
        return as_error_set(err, AS_ERR_USAGE,
                            "--before: arrows are part of the chart; use --svg FILE with it");
    if (!as_arguments_name_experiment(args))
        return as_counting_verb(cli, as_machine_need, show_counted_roofline, err);
    AS_TRY(refuse_recording(args, err));
    AS_TRY(as_experiment_read(args->positional[0], &experiment, err));
    const int rc = show_run(cli, experiment, (int64_t)args->number[AS_OPTION_RUN], err);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}
