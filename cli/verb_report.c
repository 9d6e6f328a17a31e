/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay report EXP`: the report of a run as files. The report makes the content; this file chooses
 * the destination.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "advised.h"
#include "base/error.h"
#include "destination.h"
#include "report/report.h"
#include "report/views.h"
#include "report_path.h"
#include "unfinished.h"

/* X(NAME, word, file): names in the order of --format. */
static const char *const file_name[] = {
#define REPORT_FILE(name, word, file) [AS_REPORT_##name] = (file),
    AS_REPORT_LIST(REPORT_FILE)
#undef REPORT_FILE
};
#define FORMAT_N (sizeof file_name / sizeof *file_name)

void as_report_path(const struct as_cli *cli, const char *directory, enum as_report_format format,
                    struct as_str *path)
{
    const char *name = file_name[format];
    const size_t stem = strlen("report");

    as_str_appendf(path, "%s/%.*s", directory, (int)stem, name);
    if (as_given(&cli->args, AS_OPTION_RUN))
        as_str_appendf(path, "-run-%llu", (unsigned long long)cli->args.number[AS_OPTION_RUN]);
    as_str_appendz(path, name + stem);
}

static bool is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static unsigned count_bits(uint64_t bits)
{
    return (unsigned)__builtin_popcountll(bits);
}

/* A directory that is there takes files under their names; else PATH is the one file. */
static int check_options(const struct as_cli *cli, uint64_t formats, struct as_error *err)
{
    const char *path = cli->args.value[AS_OPTION_REPORT];
    const bool is_stdout = path && as_cli_is_stdout(path);

    if (is_stdout && count_bits(formats) > 1)
        return as_error_set(err, AS_ERR_USAGE,
                            "--output: several formats need a directory, and %s is standard "
                            "output; use one format",
                            path);
    if (path && count_bits(formats) > 1 && !is_directory(path))
        return as_error_set(err, AS_ERR_USAGE,
                            "--output: several formats need a directory, and %s is not one; "
                            "create it first",
                            path);
    return 0;
}

/* Nothing else goes there. */
static int write_stdout(struct as_cli *cli, struct as_experiment *experiment,
                        enum as_report_format format, const struct as_report_data_options *options,
                        struct as_error *err)
{
    cli->out.clean = isatty(cli->fd);
    return as_report_stream(experiment, (int64_t)cli->args.number[AS_OPTION_RUN], format, options,
                            &cli->out, err);
}

/* The experiment by another name: its own reports are replaced. */
static bool is_experiment(const struct as_experiment *experiment, const char *directory)
{
    struct stat a, b;

    return stat(directory, &a) == 0 && stat(as_experiment_path(experiment), &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* CSV goes to a directory, with a file a view. */
static int check_view_files(const struct as_cli *cli, const char *directory, struct as_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < as_report_view_n; i++) {
        struct as_str path = {0};

        as_str_appendf(&path, "%s/%s.csv", directory, as_report_views[i].name);
        rc = path.failed ? as_error_nomem(err, "the report")
                         : as_destination_check(&cli->args, AS_OPTION_REPORT, as_str_z(&path), err);
        as_str_fini(&path);
    }
    return rc;
}

static int check_destination(const struct as_cli *cli, const struct as_experiment *experiment,
                             enum as_report_format format, const char *path, struct as_error *err)
{
    if (is_experiment(experiment, cli->args.value[AS_OPTION_REPORT]))
        return 0;
    if (format == AS_REPORT_CSV && is_directory(path))
        return check_view_files(cli, path, err);
    return as_destination_check(&cli->args, AS_OPTION_REPORT, path, err);
}

static int write_one(struct as_cli *cli, struct as_experiment *experiment,
                     enum as_report_format format, struct as_error *err)
{
    const char *output = cli->args.value[AS_OPTION_REPORT];
    const struct as_report_data_options options = {
        .csv_safe = as_given(&cli->args, AS_OPTION_CSV_SAFE),
        .no_inline = as_given(&cli->args, AS_OPTION_NO_INLINE)};
    struct as_str path = {0};
    int rc;

    if (output && as_cli_is_stdout(output))
        return write_stdout(cli, experiment, format, &options, err);
    if (!output || is_directory(output))
        as_report_path(cli, output ? output : as_experiment_path(experiment), format, &path);
    else
        as_str_appendz(&path, output);
    rc = path.failed ? as_error_nomem(err, "the report")
         : output    ? check_destination(cli, experiment, format, as_str_z(&path), err)
                     : 0;
    if (rc == 0)
        rc = as_report_write(experiment, (int64_t)cli->args.number[AS_OPTION_RUN], format, &options,
                             as_str_z(&path), err);
    if (rc == 0)
        as_cli_print(cli, "%s\n", as_str_z(&path));
    as_str_fini(&path);
    return rc;
}

int as_verb_report(struct as_cli *cli, struct as_error *err)
{
    const uint64_t given = cli->args.number[AS_OPTION_FORMATS];
    const uint64_t formats = given ? given : 1u << AS_REPORT_HTML;
    struct as_experiment *experiment = NULL;
    int rc = 0;

    AS_TRY(check_options(cli, formats, err));
    as_advise(cli, cli->args.positional[0]);
    AS_TRY(as_experiment_read(cli->args.positional[0], &experiment, err));
    if (as_given(&cli->args, AS_OPTION_REDACT))
        rc = as_experiment_redact(experiment, err);
    for (size_t i = 0; rc == 0 && i < FORMAT_N; i++)
        if (formats >> i & 1)
            rc = write_one(cli, experiment, (enum as_report_format)i, err);
    if (rc == 0)
        rc = as_unfinished_note(cli, experiment, (int64_t)cli->args.number[AS_OPTION_RUN], NULL,
                                err);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}
