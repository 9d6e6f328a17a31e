/* SPDX-License-Identifier: Apache-2.0 */
/* `assay edit TRACE`: a changed copy of a trace of Paraver. The work is done by edit/. */
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/infile.h"
#include "cli.h"
#include "destination.h"
#include "edit/edit.h"
#include "report/gzip.h"
#include "stops.h"

#define OPTIONS_MAX_B ((size_t)1 << 20)
#define ROWS_MAX_B    ((size_t)1 << 30)

/* ---- Options --------------------------------------------------------------------------------- */

typedef int edit_add_word(struct as_edit *edit, const char *word, struct as_error *err);

static int read_option_file(struct as_edit *edit, const char *path, struct as_error *err)
{
    char *text = NULL;
    size_t n;
    AS_TRY(as_infile_read_text(path, "the options", OPTIONS_MAX_B, AS_INFILE_PIPE, &text, &n, err));
    const int rc = as_edit_parse_options(edit, (struct as_view){text, n}, path, err);
    as_free(text);
    return rc;
}

static int read_edit_options(const struct as_cli *cli, struct as_edit *edit, struct as_error *err)
{
    static const struct {
        enum as_option_id id;
        edit_add_word *add;
    } options[] = {{AS_OPTION_EDIT_OPTIONS, read_option_file},
                   {AS_OPTION_EDIT_CUT, as_edit_add_cut},
                   {AS_OPTION_EDIT_FILTER, as_edit_add_filter},
                   {AS_OPTION_EDIT_COUNTERS, as_edit_add_counters},
                   {AS_OPTION_EDIT_SHIFT, as_edit_add_shift},
                   {AS_OPTION_EDIT_TRANSLATE, as_edit_add_translation}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        as_vec_foreach (&cli->args.list[options[i].id], word)
            AS_TRY(options[i].add(edit, *word, err));
    edit->is_stopped = as_stops_came;
    return as_edit_check(edit, err);
}

/* ---- Files beside the trace ------------------------------------------------------------------ */

/* The name of --output with another ending; false: the trace goes to standard output. */
static bool name_beside_output(const struct as_cli *cli, const char *ending, struct as_str *out)
{
    const char *path = cli->args.value[AS_OPTION_OUTPUT];
    if (!path || cli->fd != cli->file.fd || as_outfile_is_device(&cli->file))
        return false;
    as_edit_name_beside(path, ending, out);
    return true;
}

static int check_files_beside(const struct as_cli *cli, struct as_error *err)
{
    static const char *const endings[] = {".pcf", ".row"};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof endings / sizeof *endings; i++) {
        struct as_str name = {0};
        if (name_beside_output(cli, endings[i], &name))
            rc = name.failed
                     ? as_error_nomem(err, "a name")
                     : as_destination_check(&cli->args, AS_OPTION_OUTPUT, as_str_z(&name), err);
        as_str_fini(&name);
    }
    return rc;
}

static int write_file_beside(const struct as_cli *cli, const char *ending, struct as_view text,
                             struct as_error *err)
{
    struct as_str name = {0};
    struct as_outfile file = {0};
    int rc = 0;
    if (text.n && name_beside_output(cli, ending, &name)) {
        rc = as_destination_begin(&cli->args, AS_OPTION_OUTPUT, as_str_z(&name), 0, &file, err);
        if (rc == 0)
            rc = as_outfile_fill(&file, text.p, text.n, err);
    }
    as_str_fini(&name);
    return rc;
}

static int write_labels(const struct as_cli *cli, const struct as_edit *edit, const char *path,
                        struct as_error *err)
{
    struct as_str text = {0};
    int rc = as_edit_labels(edit, path, &text, err);
    if (rc == 0)
        rc = write_file_beside(cli, ".pcf", (struct as_view){text.p, text.n}, err);
    as_str_fini(&text);
    return rc;
}

/* Names of objects stay: a cut leaves out records, no objects. */
static int copy_row_names(const struct as_cli *cli, const char *path, struct as_error *err)
{
    struct as_str name = {0};
    char *text = NULL;
    size_t n;
    as_edit_name_beside(path, ".row", &name);
    int rc = name.failed ? as_error_nomem(err, path)
                         : as_infile_read(as_str_z(&name), "the names of objects", ROWS_MAX_B, 0,
                                          &text, &n, err);
    if (rc == 0)
        rc = write_file_beside(cli, ".row", (struct as_view){text, n}, err);
    else if (rc == AS_ERR_NOT_FOUND)
        rc = 0;
    as_free(text);
    as_str_fini(&name);
    return rc;
}

/* ---- Editing --------------------------------------------------------------------------------- */

/* A sink of a compressed file. */
static int pack_bytes(void *context, const char *p, size_t n)
{
    struct as_gzip *gzip = context;
    as_gzip_write(gzip, p, n);
    return gzip->out->failed;
}

static int write_packed(struct as_cli *cli, const struct as_edit *edit, const char *path,
                        const char *date, struct as_edit_counts *counts, struct as_error *err)
{
    struct as_gzip gzip;
    struct as_out out;
    AS_TRY(as_gzip_begin(&gzip, &cli->out, err));
    as_out_init_call(&out, pack_bytes, &gzip, cli->args.value[AS_OPTION_OUTPUT]);
    int rc = as_edit_run(edit, path, date, &out, counts, err);
    if (rc == 0)
        rc = as_out_flush(&out, err);
    as_out_fini(&out);
    as_gzip_end(&gzip);
    return rc;
}

static int write_edited(struct as_cli *cli, const struct as_edit *edit, const char *path,
                        struct as_edit_counts *counts, struct as_error *err)
{
    const char *output = cli->args.value[AS_OPTION_OUTPUT];
    const time_t now = time(NULL);
    struct tm tm;
    char date[32] = "";
    if (localtime_r(&now, &tm))
        strftime(date, sizeof date, "%Y%m%d%H%M%S", &tm);
    if (!output || !as_view_ends(as_view_of(output), ".gz"))
        return as_edit_run(edit, path, date, &cli->out, counts, err);
    return write_packed(cli, edit, path, date, counts, err);
}

static void note_edit(const struct as_cli *cli, const struct as_edit *edit, const char *path,
                      const struct as_edit_counts *counts)
{
    struct as_str bad = {0};
    as_prv_bad_append(&counts->bad, &bad);
    if (bad.n)
        as_cli_note(cli, "%s: %s", path, as_str_z(&bad));
    as_str_fini(&bad);
    if (edit->ignored)
        as_cli_note(cli, "--options: %s has no effect here", edit->ignored);
    as_cli_note(cli, "%s: %llu records read, %llu written", path,
                (unsigned long long)counts->read_n, (unsigned long long)counts->written_n);
}

static int edit_trace(struct as_cli *cli, const struct as_edit *edit, struct as_error *err)
{
    const char *path = cli->args.positional[0];
    struct as_edit_counts counts;
    AS_TRY(check_files_beside(cli, err));
    as_stops_note();
    AS_TRY(write_edited(cli, edit, path, &counts, err));
    as_out_drain(&cli->out);
    if (cli->out.failed)
        return 0; /* as_cli_fini says why */
    AS_TRY(write_labels(cli, edit, path, err));
    AS_TRY(copy_row_names(cli, path, err));
    note_edit(cli, edit, path, &counts);
    return 0;
}

int as_verb_edit(struct as_cli *cli, struct as_error *err)
{
    struct as_edit edit = {0};
    int rc = read_edit_options(cli, &edit, err);
    if (rc == 0)
        rc = edit_trace(cli, &edit, err);
    as_edit_fini(&edit);
    if (as_stops_came())
        cli->status = as_stops_status();
    return rc;
}
