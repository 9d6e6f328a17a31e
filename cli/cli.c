/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything around the verbs: the result's destination, messages on stderr, opening binaries.
 */
#include "cli.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clean.h"
#include "base/error.h"
#include "base/filemap.h"
#include "base/log.h"
#include "base/term.h"
#include "destination.h"
#include "export_trace.h"
#include "text.h"

/* ---- Results ----------------------------------------------------------------------------- */

/* COLUMNS as a number the user set, or 0. */
static unsigned columns_wanted(void)
{
    const char *text = getenv("COLUMNS");
    const unsigned long n = text ? strtoul(text, NULL, 10) : 0;

    return n >= 20 && n <= 10000 ? (unsigned)n : 0;
}

unsigned as_cli_width(const struct as_cli *cli)
{
    const unsigned wanted = columns_wanted();

    return wanted ? wanted : (unsigned)as_term_width(cli->fd);
}

unsigned as_cli_table_width(const struct as_cli *cli)
{
    const unsigned wanted = columns_wanted();

    return wanted ? wanted : (unsigned)as_term_layout_width(cli->fd);
}

void as_cli_style(struct as_cli *cli, enum as_style style)
{
    if (cli->color)
        as_out_style(&cli->out, style);
}

void as_cli_styled(struct as_cli *cli, enum as_style style, const char *text)
{
    as_cli_style(cli, style);
    as_out_z(&cli->out, text);
    as_cli_style(cli, AS_STYLE_PLAIN);
}

void as_cli_print(struct as_cli *cli, const char *fmt, ...)
{
    va_list args;
    char *p = NULL;
    int n;

    va_start(args, fmt);
    n = vasprintf(&p, fmt, args);
    va_end(args);
    if (n > 0)
        as_out_write(&cli->out, p, (size_t)n);
    free(p);
}

void as_cli_wrapped(struct as_cli *cli, const char *before, const char *fmt, ...)
{
    const unsigned indent = (unsigned)strlen(before);
    struct as_str lines = {0};
    va_list args;
    char *p = NULL;

    va_start(args, fmt);
    const int n = vasprintf(&p, fmt, args);
    va_end(args);
    if (n >= 0) {
        as_str_appendz(&lines, before);
        as_wrap(&lines, p, indent, indent, as_cli_width(cli));
        as_out_z(&cli->out, as_str_z(&lines));
        free(p);
    }
    as_str_fini(&lines);
}

void as_cli_share(struct as_cli *cli, double share, const char *text)
{
    char before[32];

    snprintf(before, sizeof before, "  %5.1f %%  ", 100 * share);
    as_cli_wrapped(cli, before, "%s", text);
}

void as_cli_fact(struct as_cli *cli, const char *title, const char *value)
{
    enum { BEFORE = 2, COLUMN = 14 };
    struct as_str lines = {0};

    as_wrap(&lines, value, COLUMN, COLUMN, as_cli_width(cli));
    as_cli_print(cli, "%*s", BEFORE, "");
    as_cli_styled(cli, AS_STYLE_DIM, title);
    as_cli_print(cli, "%*s%s", COLUMN - BEFORE - (int)strlen(title), "", as_str_z(&lines));
    as_str_fini(&lines);
}

bool as_cli_is_stdout(const char *path)
{
    struct stat here, there;

    if (strcmp(path, "-") == 0)
        return true;
    return fstat(STDOUT_FILENO, &here) == 0 && stat(path, &there) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

void as_cli_csv(struct as_cli *cli, struct as_csv *csv)
{
    as_csv_init(csv, &cli->out);
    csv->safe = as_given(&cli->args, AS_OPTION_CSV_SAFE);
}

/* Results beside that of --output: refused before anything is measured. */
static int check_further_outputs(const struct as_arguments *args, struct as_error *err)
{
    static const enum as_option_id output[] = {
        AS_OPTION_PLAN, AS_OPTION_SAVE, AS_OPTION_EXPORT_FIGURES, AS_OPTION_TRACE_WRITE_FILTER};

    for (size_t i = 0; i < sizeof output / sizeof *output; i++)
        if (as_given(args, output[i]))
            AS_TRY(as_destination_check(args, output[i], args->value[output[i]], err));
    return 0;
}

int as_cli_init(struct as_cli *cli, struct as_error *err)
{
    const bool is_result =
        !as_given(&cli->args, AS_OPTION_HELP) && !as_given(&cli->args, AS_OPTION_VERSION);
    const char *path = is_result ? cli->args.value[AS_OPTION_OUTPUT] : NULL;

    cli->format = (enum as_format)cli->args.number[AS_OPTION_FORMAT];
    if (is_result)
        AS_TRY(as_formats_check(&cli->args, err));
    if (as_given(&cli->args, AS_OPTION_EXPERIMENT) &&
        strcmp(cli->args.value[AS_OPTION_EXPERIMENT], "-") == 0)
        return as_error_set(err, AS_ERR_USAGE,
                            "--output: an experiment is a directory, not standard output; use "
                            "--output NAME.assay");
    AS_TRY(check_further_outputs(&cli->args, err));
    cli->fd = STDOUT_FILENO;
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away ends us quietly, in as_cli_fini */
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit is an error like a full disk */
    if (path && !as_cli_is_stdout(path) && !as_exports_trace(&cli->args)) {
        AS_TRY(as_destination_begin(&cli->args, AS_OPTION_OUTPUT, path, 0, &cli->file, err));
        cli->fd = cli->file.fd;
    }
    as_out_init_fd(&cli->out, cli->fd, cli->fd == STDOUT_FILENO ? "standard output" : path);
    /* Data goes to programs as it is, but not to a terminal. */
    cli->out.clean = isatty(cli->fd) || (cli->format == AS_FORMAT_TEXT &&
                                         cli->args.verb != AS_VERB_EXPORT && /* has its own */
                                         cli->args.verb != AS_VERB_EDIT);
    cli->is_open = true;
    cli->jobs = (unsigned)cli->args.number[AS_OPTION_JOBS];
    cli->color = cli->format == AS_FORMAT_TEXT &&
                 as_color_use((enum as_color)cli->args.number[AS_OPTION_COLOR], cli->fd);
    return as_log_configure_env(err);
}

/* Nothing replaces the file of --output when the verb or every input failed. */
static bool has_result(const struct as_cli *cli)
{
    const size_t input_n = cli->args.positional_n ? cli->args.positional_n : 1;

    return !cli->is_void && cli->refused.n < input_n;
}

static void finish_output(struct as_cli *cli)
{
    struct as_error err = {0};
    const int rc = as_out_flush(&cli->out, &err);
    const bool is_good = rc == 0 && has_result(cli);

    if (as_out_reader_gone(&cli->out))
        cli->status = cli->status ? cli->status : 1;
    else if (rc < 0)
        as_cli_complain(cli, &err);
    if (as_outfile_end(&cli->file, is_good ? 0 : AS_ERR_IO, &err) < 0 && is_good)
        as_cli_complain(cli, &err);
    as_out_fini(&cli->out);
}

int as_cli_fini(struct as_cli *cli)
{
    if (cli->is_open)
        finish_output(cli);
    as_vec_foreach (&cli->refused, it)
        as_free(it->text);
    as_vec_fini(&cli->refused);
    as_arguments_fini(&cli->args);
    return cli->status;
}

/* ---- Messages ---------------------------------------------------------------------------- */

/* Names in it are of files that others made. */
static void emit_refusal(const char *text)
{
    struct as_str line = {0};

    as_str_appendz(&line, "assay: ");
    as_clean_append(&line, as_view_of(text));
    as_str_appendz(&line, "\n");
    fputs(as_str_z(&line), stderr);
    as_str_fini(&line);
}

void as_cli_complain(struct as_cli *cli, const struct as_error *err)
{
    const int status = as_error_exit_status(err->code);

    /* If a file was truncated meanwhile, its content is not the fault: main says that. */
    if (err->code == AS_ERR_TRUNCATED || as_filemap_check(NULL) == 0)
        emit_refusal(err->text[0] ? err->text : as_error_summary(err->code));
    if (status > cli->status)
        cli->status = status;
}

void as_cli_refuse(struct as_cli *cli, const char *path, const struct as_error *err)
{
    const size_t n = strlen(err->text) + 1;
    char *text = as_malloc(n);

    as_cli_complain(cli, err);
    if (!text)
        return; /* said on stderr at least */
    memcpy(text, err->text, n);
    if (as_vec_push(&cli->refused, (struct as_refusal){path, text}) < 0)
        as_free(text);
}

void as_cli_note(const struct as_cli *cli, const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    int n;

    if (as_given(&cli->args, AS_OPTION_QUIET))
        return;
    va_start(args, fmt);
    n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n >= 0)
        emit_refusal(text);
    if (n >= 0)
        free(text);
}

/* ---- Binaries ---------------------------------------------------------------------------- */

/* Splits "OLD=NEW" of the command line in place. */
static int source_map(struct as_cli *cli, struct as_source_map *map, struct as_error *err)
{
    as_vec_foreach (&cli->args.list[AS_OPTION_SOURCE_MAP], it) {
        const char *equals = strchr(*it, '=');
        char *from = equals && equals != *it ? as_malloc((size_t)(equals - *it) + 1) : NULL;

        if (!equals || equals == *it)
            return as_error_set(err, AS_ERR_USAGE, "--source-map: invalid value '%s'; use OLD=NEW",
                                *it);
        if (!from)
            return as_error_nomem(err, "the source map");
        memcpy(from, *it, (size_t)(equals - *it));
        from[equals - *it] = '\0';
        *map++ = (struct as_source_map){from, equals + 1};
    }
    return 0;
}

int as_cli_open_object(struct as_cli *cli, const char *path, struct as_object **out,
                       struct as_error *err)
{
    const size_t n = cli->args.list[AS_OPTION_SOURCE_MAP].n;
    struct as_source_map *map = as_calloc(n + 1, sizeof *map);
    const struct as_object_options options = {map, n, cli->args.value[AS_OPTION_DEBUG_DIR]};
    int rc = map ? source_map(cli, map, err) : as_error_nomem(err, "the source map");

    if (rc == 0)
        rc = as_object_open(path, &options, out, err);
    for (size_t i = 0; map && i < n; i++)
        as_free((void *)map[i].from);
    as_free(map);
    return rc;
}

struct as_object *as_cli_open(struct as_cli *cli, const char *path)
{
    struct as_object *object = NULL;
    struct as_error err = {0};

    if (as_cli_open_object(cli, path, &object, &err) < 0) {
        as_cli_refuse(cli, path, &err);
        return NULL;
    }
    return object;
}
