/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the page template; text between its markers is copied. */
#include "report/html.h"

#include <string.h>

#include "base/clean.h"
#include "base/error.h"
#include "report/data.h"
#include "report/packed.h"
#include "report/profile.h"
#include "report/shell.h"

#define SUMMARY_COLUMNS 100
#define SUMMARY_ROWS    20

struct html_page {
    struct as_experiment *experiment;
    int64_t run_id;
    const struct as_report_data_options *options;
    struct as_out *out;
};

/* ---- Text --------------------------------------------------------------------------------- */

static const char *entity(uint32_t c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void as_html_escape(struct as_out *out, const char *text, size_t n)
{
    struct as_view rest = {text, n};
    char escape[AS_CLEAN_ESCAPE_B];

    while (rest.n) {
        size_t used;
        const size_t clean_n = as_clean_run(rest, true, &used, escape);

        for (size_t i = 0; i < clean_n; i++) {
            const char *instead = entity((unsigned char)rest.p[i]);

            if (instead)
                as_out_z(out, instead);
            else
                as_out_c(out, rest.p[i]);
        }
        if (used)
            as_out_z(out, escape);
        rest.p += clean_n + used;
        rest.n -= clean_n + used;
    }
}

/* ---- Content of the markers -------------------------------------------------------------- */

static int write_title(struct html_page *page, struct as_error *err)
{
    struct as_str title = {0};
    const int rc = as_report_title(page->experiment, page->run_id, &title, err);

    as_html_escape(page->out, as_str_z(&title), title.n);
    as_str_fini(&title);
    return rc;
}

/* Writes the data. The page shows texts unchanged, so they are cleaned here. */
static int write_data(struct html_page *page, struct as_error *err)
{
    struct as_report_data_options options =
        page->options ? *page->options : (struct as_report_data_options){0};
    struct as_packed packed;
    struct as_out out;
    int rc = as_packed_init(&packed, page->out);

    if (rc < 0) {
        as_packed_fini(&packed);
        return as_error_nomem(err, "the report");
    }
    as_out_init_call(&out, as_packed_write, &packed, page->out->name);
    options.clean = true;
    rc = as_report_data(page->experiment, page->run_id, &options, &out, err);
    if (rc == 0)
        rc = as_out_flush(&out, err);
    if (rc == 0)
        as_packed_end(&packed);
    as_out_fini(&out);
    as_packed_fini(&packed);
    return rc;
}

/* Writes a text summary of code that was only analysed: its most important findings. */
static int write_code_summary(struct html_page *page, struct as_error *err)
{
    struct as_rows *rows;
    int more;

    AS_TRY(as_rows_open(page->experiment,
                        "SELECT text, ifnull(workaround, '') FROM v_findings ORDER BY rank"
                        " LIMIT 20",
                        &rows, err));
    as_out_z(page->out, "Code quality analysis\n\n");
    while ((more = as_rows_next(rows, err)) > 0) {
        for (int i = 0; i < 2; i++) {
            const char *text = as_rows_text(rows, i);

            as_html_escape(page->out, text, strlen(text));
            as_out_z(page->out, i ? "\n\n" : "\n  ");
        }
    }
    as_rows_close(&rows);
    return more;
}

static int write_summary(struct html_page *page, struct as_error *err)
{
    const struct as_report_text_options options = {.width = SUMMARY_COLUMNS,
                                                   .utf8 = true,
                                                   .rows = SUMMARY_ROWS,
                                                   .no_inline =
                                                       page->options && page->options->no_inline};
    struct as_str text = {0};
    struct as_out out;
    bool is_code;
    int rc;

    AS_TRY(as_report_is_code(page->experiment, page->run_id, &is_code, err));
    if (is_code)
        return write_code_summary(page, err);
    as_out_init_str(&out, &text);
    rc = as_report_profile(page->experiment, page->run_id, &options, &out, err);
    if (rc == 0)
        rc = as_out_flush(&out, err);
    as_out_fini(&out);
    if (rc == 0)
        as_html_escape(page->out, as_str_z(&text), text.n);
    as_str_fini(&text);
    return rc;
}

static const struct marker {
    const char *text;
    int (*write)(struct html_page *page, struct as_error *err);
} markers[] = {
    {"%ASSAY_TITLE%", write_title},
    {"%ASSAY_DATA%", write_data},
    {"%ASSAY_NOSCRIPT%", write_summary},
};

/* Returns the first marker in `rest` and sets `*at` to its position; NULL after the last. */
static const struct marker *next_marker(const char *rest, const char **at)
{
    const struct marker *first = NULL;

    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
        const char *found = strstr(rest, markers[i].text);

        if (found && (!first || found < *at)) {
            first = &markers[i];
            *at = found;
        }
    }
    return first;
}

int as_report_html(struct as_experiment *experiment, int64_t run_id,
                   const struct as_report_data_options *options, struct as_out *out,
                   struct as_error *err)
{
    struct html_page page = {experiment, run_id, options, out};
    const char *rest = as_report_shell, *at = NULL;
    const struct marker *marker;
    int64_t run_n;

    AS_TRY(as_report_run(experiment, run_id, &page.run_id, &run_n, err));
    while ((marker = next_marker(rest, &at))) {
        as_out_write(out, rest, (size_t)(at - rest));
        AS_TRY(marker->write(&page, err));
        rest = at + strlen(marker->text);
    }
    as_out_z(out, rest);
    return 0;
}
