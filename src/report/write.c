/* SPDX-License-Identifier: Apache-2.0 */
/* Writes reports to files and streams. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/outfile.h"
#include "report/grid.h"
#include "report/html.h"
#include "report/profile.h"
#include "report/xlsx.h"

#define TEXT_COLUMNS 100

struct report {
    struct as_experiment *experiment;
    int64_t run_id;
    const struct as_report_data_options *options;
};

static bool has_no_inline(const struct report *report)
{
    return report->options && report->options->no_inline;
}

/* Writes complete content to `out`. */
typedef int (*writer)(const struct report *report, const void *what, struct as_out *out,
                      struct as_error *err);

/* ---- Files -------------------------------------------------------------------------------- */

/* Returns true if the directory of `path` is the experiment, which other users may have made. */
static bool is_inside(const struct report *report, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct as_str directory = {0};
    struct stat here, experiment;
    bool is_same;

    as_str_append(&directory, slash ? path : "./", slash ? (size_t)(slash - path) + 1 : 2);
    is_same = stat(as_str_z(&directory), &here) == 0 &&
              stat(as_experiment_path(report->experiment), &experiment) == 0 &&
              here.st_dev == experiment.st_dev && here.st_ino == experiment.st_ino;
    as_str_fini(&directory);
    return is_same;
}

static int fill_file(const struct report *report, writer write_it, const void *what, int fd,
                     const char *path, struct as_error *err)
{
    struct as_out out;
    int rc;

    as_out_init_fd(&out, fd, path);
    rc = write_it(report, what, &out, err);
    if (rc == 0)
        rc = as_out_flush(&out, err);
    as_out_fini(&out);
    return rc;
}

static int write_file(const struct report *report, writer write_it, const void *what,
                      const char *path, bool foreign, struct as_error *err)
{
    const unsigned bits = AS_OUTFILE_REPLACE | (foreign ? AS_OUTFILE_FOREIGN : 0);
    struct as_outfile file;

    AS_TRY(as_outfile_begin(&file, path, bits, err));
    return as_outfile_end(&file, fill_file(report, write_it, what, file.fd, path, err), err);
}

/* ---- Formats ------------------------------------------------------------------------------ */

static int write_html(const struct report *report, const void *what, struct as_out *out,
                      struct as_error *err)
{
    (void)what;
    return as_report_html(report->experiment, report->run_id, report->options, out, err);
}

static int write_json(const struct report *report, const void *what, struct as_out *out,
                      struct as_error *err)
{
    (void)what;
    return as_report_data(report->experiment, report->run_id, report->options, out, err);
}

static int write_text(const struct report *report, const void *what, struct as_out *out,
                      struct as_error *err)
{
    const struct as_report_text_options options = {
        .width = TEXT_COLUMNS, .utf8 = true, .no_inline = has_no_inline(report)};

    (void)what;
    return as_report_profile(report->experiment, report->run_id, &options, out, err);
}

static void csv_cell(struct as_csv *csv, const struct as_grid_column *column, size_t row)
{
    if (as_column_kind_is_text(column->is.kind))
        as_csv_string(csv, as_grid_text(column, row));
    else if (column->real.n)
        as_csv_double(csv, column->real.at[row]);
    else if (column->whole.at[row] == AS_GRID_NO_INTEGER)
        as_csv_string(csv, NULL);
    else
        as_csv_i64(csv, column->whole.at[row]);
}

static int write_view(const struct report *report, const void *what, struct as_out *out,
                      struct as_error *err)
{
    const struct as_grid *grid = what;
    struct as_csv csv;

    (void)err;
    as_csv_init(&csv, out);
    csv.safe = report->options && report->options->csv_safe;
    as_vec_foreach (&grid->column, it)
        as_csv_string(&csv, (*it)->is.name);
    as_csv_row_end(&csv);
    for (size_t row = 0; row < grid->row_n; row++) {
        as_vec_foreach (&grid->column, it)
            csv_cell(&csv, *it, row);
        as_csv_row_end(&csv);
    }
    return 0;
}

static int write_view_file(const struct report *report, const struct as_report_view *view,
                           const char *directory, struct as_error *err)
{
    const struct as_report_view shown = as_report_view_as(view, has_no_inline(report));
    struct as_str path = {0};
    struct as_grid grid;
    int rc = as_grid_load(&grid, report->experiment, report->run_id, &shown, err);

    as_str_appendf(&path, "%s/%s.csv", directory, view->name);
    if (rc == 0)
        rc = path.failed ? as_error_nomem(err, directory)
                         : write_file(report, write_view, &grid, as_str_z(&path), true, err);
    as_str_fini(&path);
    as_grid_fini(&grid);
    return rc;
}

/* Creates or finds the directory. In an experiment it must not be a link. */
static int make_report_directory(const struct report *report, const char *directory,
                                 struct as_error *err)
{
    const int no_link = is_inside(report, directory) ? O_NOFOLLOW : 0;
    int fd;

    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return as_outfile_refused(directory, errno, err);
    fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | no_link);
    if (fd < 0)
        return as_outfile_refused(directory, errno, err);
    close(fd);
    return 0;
}

static int write_views(const struct report *report, const char *directory, struct as_error *err)
{
    AS_TRY(make_report_directory(report, directory, err));
    for (size_t i = 0; i < as_report_view_n; i++)
        if (!as_report_views[i].only_show)
            AS_TRY(write_view_file(report, &as_report_views[i], directory, err));
    return 0;
}

/* ---- Workbooks ---------------------------------------------------------------------------- */

static int no_workbook(const char *path, struct as_error *err)
{
    return as_error_set(err, AS_ERR_UNSUPPORTED, "%s: a workbook needs a file; use --output", path);
}

/* Writes a workbook. The library writes by name, so the file is created here with the right owner
 * and mode. */
static int write_workbook(const struct report *report, const char *path, struct as_error *err)
{
    const unsigned place = is_inside(report, path) ? AS_OUTFILE_FOREIGN : 0;
    struct as_outfile file;
    int rc;

    AS_TRY(as_outfile_begin(&file, path, AS_OUTFILE_REPLACE | AS_OUTFILE_NAMED | place, err));
    rc = as_outfile_is_device(&file)
             ? no_workbook(path, err)
             : as_report_xlsx(report->experiment, report->run_id, has_no_inline(report),
                              as_str_z(&file.beside), path, err);
    return as_outfile_end(&file, rc, err);
}

/* ---- The report --------------------------------------------------------------------------- */

/* Returns the writer of a format, or NULL if the format is not a single stream. */
static writer writer_of(enum as_report_format format)
{
    switch (format) {
    case AS_REPORT_HTML:
        return write_html;
    case AS_REPORT_JSON:
        return write_json;
    case AS_REPORT_TEXT:
        return write_text;
    case AS_REPORT_CSV:
    case AS_REPORT_XLSX:
        break;
    }
    return NULL;
}

int as_report_stream(struct as_experiment *experiment, int64_t run_id, enum as_report_format format,
                     const struct as_report_data_options *options, struct as_out *out,
                     struct as_error *err)
{
    struct report report = {experiment, run_id, options};
    const writer write_it = writer_of(format);
    int64_t run_n;

    AS_TRY(as_report_run(experiment, run_id, &report.run_id, &run_n, err));
    if (format == AS_REPORT_XLSX)
        return no_workbook(out->name, err);
    if (!write_it)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: CSV writes one file per view; use --output with a directory",
                            out->name);
    return write_it(&report, NULL, out, err);
}

int as_report_write(struct as_experiment *experiment, int64_t run_id, enum as_report_format format,
                    const struct as_report_data_options *options, const char *path,
                    struct as_error *err)
{
    struct report report = {experiment, run_id, options};
    const writer write_it = writer_of(format);
    int64_t run_n;

    AS_TRY(as_report_run(experiment, run_id, &report.run_id, &run_n, err));
    if (write_it)
        return write_file(&report, write_it, NULL, path, is_inside(&report, path), err);
    return format == AS_REPORT_CSV ? write_views(&report, path, err)
                                   : write_workbook(&report, path, err);
}
