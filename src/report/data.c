/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report data: one JSON document with everything that a report shows
 * (doc/reference/report-data.md). It is streamed with at most one view in memory. After an error of
 * reading the document stays incomplete, and the caller discards it.
 */
#include "report/data.h"

#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/utf8.h"
#include "base/version.h"
#include "report/profile.h"

#define TITLE_COLUMNS 80

/* ---- Head --------------------------------------------------------------------------------- */

/* Appends the first columns of a text, with an ellipsis if it is longer. */
static void shortened(struct as_str *to, const char *text, size_t columns)
{
    const size_t n = strlen(text);
    size_t at = 0, width = 0;

    while (at < n) {
        uint32_t c;
        const int step = as_utf8_next(text + at, n - at, &c);

        width += as_utf8_columns(c);
        if (width >= columns && at + (size_t)(step < 0 ? -step : step) < n)
            break;
        as_str_append(to, text + at, (size_t)(step < 0 ? -step : step));
        at += (size_t)(step < 0 ? -step : step);
    }
    if (at < n)
        as_str_appendz(to, "\xe2\x80\xa6");
}

int as_report_title(struct as_experiment *experiment, int64_t run_id, struct as_str *title,
                    struct as_error *err)
{
    struct as_rows *rows;
    int more;

    AS_TRY(as_rows_open(experiment, "SELECT command FROM run WHERE run_id = ?1", &rows, err));
    as_rows_bind_integer(rows, 1, run_id);
    more = as_rows_next(rows, err);
    if (more > 0)
        shortened(title, as_rows_text(rows, 0), TITLE_COLUMNS);
    as_rows_close(&rows);
    if (more >= 0 && title->failed)
        return as_error_nomem(err, "the title");
    return more < 0 ? more : 0;
}

int as_report_is_code(struct as_experiment *experiment, int64_t run_id, bool *is,
                      struct as_error *err)
{
    struct as_rows *rows;

    AS_TRY(as_rows_open(experiment, "SELECT kind = 'code' FROM run WHERE run_id = ?1", &rows, err));
    as_rows_bind_integer(rows, 1, run_id);
    const int more = as_rows_next(rows, err);
    *is = more > 0 && as_rows_integer(rows, 0) != 0;
    as_rows_close(&rows);
    return more < 0 ? more : 0;
}

static void made_now(char text[static 32])
{
    const time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* Writes "a.assay" for "/x/a.assay/". */
static void write_name(struct as_json *json, const char *path)
{
    struct as_view name = as_view_of(path);
    size_t from;

    while (name.n > 1 && name.p[name.n - 1] == '/')
        name.n--;
    for (from = name.n; from && name.p[from - 1] != '/'; from--)
        ;
    as_json_key_view(json, "experiment", (struct as_view){name.p + from, name.n - from});
}

static int write_head(struct as_document *document, const struct as_report_data_options *options,
                      struct as_error *err)
{
    struct as_json *json = &document->json;
    struct as_str title = {0};
    char now[32];
    const int rc = as_report_title(document->experiment, document->run_id, &title, err);

    made_now(now);
    as_json_key_u64(json, "schema", AS_REPORT_DATA_SCHEMA);
    as_json_key_string(json, "assay", AS_VERSION);
    as_json_key_string(json, "made_utc", options && options->made_utc ? options->made_utc : now);
    write_name(json, as_experiment_shown_path(document->experiment));
    as_json_key_string(json, "title", as_str_z(&title));
    as_json_key_i64(json, "run_id", document->run_id);
    as_str_fini(&title);
    return rc;
}

static int write_parts(struct as_document *document, const struct as_report_data_options *options,
                       struct as_error *err)
{
    AS_TRY(write_head(document, options, err));
    AS_TRY(as_data_facts(document, err));
    AS_TRY(as_data_views(document, err));
    AS_TRY(as_data_calltree(document, err));
    AS_TRY(as_data_code(document, err));
    AS_TRY(as_data_variants(document, err));
    AS_TRY(as_data_parallel(document, err));
    AS_TRY(as_data_models(document, err));
    AS_TRY(as_data_over_time(document, err));
    AS_TRY(as_data_roofline(document, err));
    return as_data_modes(document, err);
}

int as_report_data(struct as_experiment *experiment, int64_t run_id,
                   const struct as_report_data_options *options, struct as_out *out,
                   struct as_error *err)
{
    struct as_document document = {.experiment = experiment,
                                   .comparison = options ? options->comparison : NULL,
                                   .path_most = options ? options->path_most : 0,
                                   .level_most_b = options ? options->level_most_b : 0,
                                   .no_inline = options && options->no_inline};
    int64_t run_n;
    int rc;

    AS_TRY(as_report_run(experiment, run_id, &document.run_id, &run_n, err));
    AS_TRY(as_report_is_code(experiment, document.run_id, &document.is_code, err));
    as_json_init(&document.json, out, 0);
    document.json.clean = options && options->clean;
    as_json_object_begin(&document.json);
    rc = write_parts(&document, options, err);
    if (rc == 0) {
        as_json_object_end(&document.json);
        as_json_finish(&document.json);
    }
    return rc;
}
