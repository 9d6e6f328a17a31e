/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports as files. A file is written beside its place and renamed when it is whole; what is no
 * file (a device, a pipe) is written as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/csv.h"
#include "base/error.h"
#include "report/grid.h"
#include "report/html.h"
#include "report/profile.h"
#include "report/xlsx.h"

#define TEXT_COLUMNS 100

struct report {
    struct assay_experiment *experiment;
    int64_t run_id;
    const struct assay_report_data_options *options;
};

/* Writes the whole of something to `out`. */
typedef int (*writer)(const struct report *report, const void *what, struct as_out *out,
                      struct assay_error *err);

/* ---- Files -------------------------------------------------------------------------------- */

static int cannot_write(const char *path, int number, struct assay_error *err)
{
    return as_error_set(err, ASSAY_ERR_IO,
                        "%s: cannot be written: %s; name another place by 'assay report --output'",
                        path, strerror(number));
}

static int fill(const struct report *report, writer write_it, const void *what, int fd,
                const char *path, struct assay_error *err)
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

static int write_device(const struct report *report, writer write_it, const void *what,
                        const char *path, struct assay_error *err)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    int rc;

    if (fd < 0)
        return cannot_write(path, errno, err);
    rc = fill(report, write_it, what, fd, path, err);
    if (close(fd) != 0 && rc == 0)
        rc = cannot_write(path, errno, err);
    return rc;
}

/* mkostemp makes files for their owner only. */
static int open_beside(char *beside)
{
    const int fd = mkostemp(beside, O_CLOEXEC);
    const mode_t mask = umask(0);

    umask(mask);
    if (fd >= 0)
        (void)!fchmod(fd, 0666 & ~mask);
    return fd;
}

/* `path` is what the user calls the file, `real` where it is. */
static int write_beside(const struct report *report, writer write_it, const void *what,
                        const char *path, const char *real, char *beside, struct assay_error *err)
{
    const int fd = open_beside(beside);
    int rc;

    if (fd < 0)
        return cannot_write(path, errno, err);
    rc = fill(report, write_it, what, fd, path, err);
    if (close(fd) != 0 && rc == 0)
        rc = cannot_write(path, errno, err);
    if (rc == 0 && rename(beside, real) != 0)
        rc = cannot_write(path, errno, err);
    if (rc < 0)
        unlink(beside);
    return rc;
}

/* Where a file is that may be there: `*real`, or whether it is none (a device, a pipe). */
static int find_place(const char *path, char resolved[static PATH_MAX], const char **real,
                      bool *is_device, struct assay_error *err)
{
    struct stat st;

    *real = path;
    *is_device = false;
    if (stat(path, &st) != 0)
        return 0;
    if (S_ISDIR(st.st_mode))
        return as_error_set(err, ASSAY_ERR_USAGE, "%s: is a directory; name a file by --output",
                            path);
    *is_device = !S_ISREG(st.st_mode);
    *real = realpath(path, resolved) ? resolved : path; /* a link stays one */
    return 0;
}

static int write_file(const struct report *report, writer write_it, const void *what,
                      const char *path, struct assay_error *err)
{
    char resolved[PATH_MAX];
    struct as_str beside = {0};
    const char *real;
    bool is_device;
    int rc;

    AS_TRY(find_place(path, resolved, &real, &is_device, err));
    if (is_device)
        return write_device(report, write_it, what, path, err);
    as_str_appendf(&beside, "%s.XXXXXX", real);
    rc = beside.failed ? as_error_nomem(err, path)
                       : write_beside(report, write_it, what, path, real, beside.p, err);
    as_str_fini(&beside);
    return rc;
}

/* ---- Formats ------------------------------------------------------------------------------ */

static int write_html(const struct report *report, const void *what, struct as_out *out,
                      struct assay_error *err)
{
    (void)what;
    return as_report_html(report->experiment, report->run_id, report->options, out, err);
}

static int write_json(const struct report *report, const void *what, struct as_out *out,
                      struct assay_error *err)
{
    (void)what;
    return assay_report_data(report->experiment, report->run_id, report->options, out, err);
}

static int write_text(const struct report *report, const void *what, struct as_out *out,
                      struct assay_error *err)
{
    const struct assay_report_text_options options = {.width = TEXT_COLUMNS, .utf8 = true};

    (void)what;
    return assay_report_profile(report->experiment, report->run_id, &options, out, err);
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
                      struct assay_error *err)
{
    const struct as_grid *grid = what;
    struct as_csv csv;

    (void)report;
    (void)err;
    as_csv_init(&csv, out);
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
                           const char *directory, struct assay_error *err)
{
    struct as_str path = {0};
    struct as_grid grid;
    int rc = as_grid_load(&grid, report->experiment, report->run_id, view, err);

    as_str_appendf(&path, "%s/%s.csv", directory, view->name);
    if (rc == 0)
        rc = path.failed ? as_error_nomem(err, directory)
                         : write_file(report, write_view, &grid, as_str_z(&path), err);
    as_str_fini(&path);
    as_grid_fini(&grid);
    return rc;
}

static int write_views(const struct report *report, const char *directory, struct assay_error *err)
{
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return cannot_write(directory, errno, err);
    for (size_t i = 0; i < as_report_view_n; i++)
        if (!as_report_views[i].only_show)
            AS_TRY(write_view_file(report, &as_report_views[i], directory, err));
    return 0;
}

/* ---- Workbooks ---------------------------------------------------------------------------- */

/* The library writes by name: the file is made here, so that it has the right owner and mode. */
static int write_workbook_beside(const struct report *report, const char *path, const char *real,
                                 char *beside, struct assay_error *err)
{
    const int fd = open_beside(beside);
    int rc;

    if (fd < 0)
        return cannot_write(path, errno, err);
    close(fd);
    rc = as_report_xlsx(report->experiment, report->run_id, beside, path, err);
    if (rc == 0 && rename(beside, real) != 0)
        rc = cannot_write(path, errno, err);
    if (rc < 0)
        unlink(beside);
    return rc;
}

static int write_workbook(const struct report *report, const char *path, struct assay_error *err)
{
    char resolved[PATH_MAX];
    struct as_str beside = {0};
    const char *real;
    bool is_device;
    int rc;

    AS_TRY(find_place(path, resolved, &real, &is_device, err));
    if (is_device)
        return as_error_set(err, ASSAY_ERR_UNSUPPORTED,
                            "%s: a workbook needs a file of its own; name one by --output", path);
    as_str_appendf(&beside, "%s.XXXXXX", real);
    rc = beside.failed ? as_error_nomem(err, path)
                       : write_workbook_beside(report, path, real, beside.p, err);
    as_str_fini(&beside);
    return rc;
}

int assay_report_write(struct assay_experiment *experiment, int64_t run_id,
                       enum assay_report_format format,
                       const struct assay_report_data_options *options, const char *path,
                       struct assay_error *err)
{
    struct report report = {experiment, run_id, options};
    int64_t run_n;

    AS_TRY(as_report_run(experiment, run_id, &report.run_id, &run_n, err));
    switch (format) {
    case ASSAY_REPORT_HTML:
        return write_file(&report, write_html, NULL, path, err);
    case ASSAY_REPORT_JSON:
        return write_file(&report, write_json, NULL, path, err);
    case ASSAY_REPORT_TEXT:
        return write_file(&report, write_text, NULL, path, err);
    case ASSAY_REPORT_CSV:
        return write_views(&report, path, err);
    case ASSAY_REPORT_XLSX:
        return write_workbook(&report, path, err);
    }
    return as_error_set(err, ASSAY_ERR_INTERNAL, "%s: no such format", path);
}
