/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay export EXP`: the call stacks or the trace of a run as a file for other programs. Other
 * files make the content; this one chooses the destination.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "destination.h"
#include "export_trace.h"
#include "profiling.h"
#include "report/report.h"
#include "unfinished.h"

static int parse_export_options(const struct as_cli *cli, struct as_export_options *options,
                                struct as_error *err)
{
    const struct as_arguments *args = &cli->args;

    options->format = (enum as_export_format)args->number[AS_OPTION_AS];
    options->blocked = as_given(args, AS_OPTION_BLOCKED);
    if (as_given(args, AS_OPTION_BY))
        options->by = (enum as_export_by)(AS_EXPORT_BY_RUN + args->number[AS_OPTION_BY]);
    if (options->format == AS_EXPORT_PPROF && options->by != AS_EXPORT_BY_DEFAULT)
        return as_error_set(err, AS_ERR_USAGE,
                            "--by: pprof always has processes and threads as labels; remove --by");
    return 0;
}

/* An empty export is a good file, but hardly what was meant. */
static int note_empty(const struct as_cli *cli, struct as_experiment *experiment,
                      const struct as_export_options *options, struct as_error *err)
{
    size_t unfinished_n;

    AS_TRY(as_unfinished_note(cli, experiment, (int64_t)cli->args.number[AS_OPTION_RUN],
                              &unfinished_n, err));
    if (unfinished_n)
        return 0;
    as_cli_note(cli, "%s: %s, so the export is empty", cli->args.positional[0],
                options->blocked ? "this run has no data about waiting threads"
                                 : "this run has no samples");
    return 0;
}

static int export_to(struct as_cli *cli, struct as_experiment *experiment,
                     const struct as_export_options *options, struct as_out *out,
                     struct as_error *err)
{
    uint64_t stack_n = 0;

    AS_TRY(as_report_export(experiment, (int64_t)cli->args.number[AS_OPTION_RUN], options, out,
                            &stack_n, err));
    return stack_n ? 0 : note_empty(cli, experiment, options, err);
}

/* A name in this directory that is free: "run.assay" gives run.pb.gz, run-2.pb.gz, ... */
static void find_free(const char *experiment, struct as_str *name)
{
    struct as_view stem = as_view_of(as_path_last(experiment));
    struct stat st;

    while (stem.n && stem.p[stem.n - 1] == '/')
        stem.n--;
    if (as_view_ends(stem, ".assay"))
        stem.n -= strlen(".assay");
    for (unsigned i = 1; i < 100000 && !name->failed; i++) {
        as_str_clear(name);
        as_str_append(name, stem.p, stem.n);
        if (i > 1)
            as_str_appendf(name, "-%u", i);
        as_str_appendz(name, ".pb.gz");
        if (lstat(as_str_z(name), &st) != 0)
            break;
    }
}

static int export_to_file(struct as_cli *cli, struct as_experiment *experiment,
                          const struct as_export_options *options, struct as_error *err)
{
    struct as_str name = {0};
    struct as_outfile file = {0};
    struct as_out out;
    int rc;

    find_free(cli->args.positional[0], &name);
    rc = name.failed
             ? as_error_nomem(err, "the name of a file")
             : as_destination_begin(&cli->args, AS_OPTION_OUTPUT, as_str_z(&name), 0, &file, err);
    if (rc == 0) {
        as_out_init_fd(&out, file.fd, as_str_z(&name));
        rc = export_to(cli, experiment, options, &out, err);
        if (rc == 0)
            rc = as_out_flush(&out, err);
        as_out_fini(&out);
        rc = as_outfile_end(&file, rc, err);
    }
    if (rc == 0)
        as_cli_note(cli, "the export is %s", as_str_z(&name));
    as_str_fini(&name);
    return rc;
}

int as_verb_export(struct as_cli *cli, struct as_error *err)
{
    struct as_export_options options = {0};
    struct as_experiment *experiment = NULL;
    int rc;

    AS_TRY(parse_export_options(cli, &options, err));
    AS_TRY(as_experiment_read(cli->args.positional[0], &experiment, err));
    if (as_exports_trace(&cli->args))
        rc = as_export_trace(cli, experiment, err);
    else if (options.format == AS_EXPORT_PPROF && isatty(cli->fd))
        rc = export_to_file(cli, experiment, &options, err);
    else
        rc = export_to(cli, experiment, &options, &cli->out, err);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}
