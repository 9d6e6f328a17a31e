/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials as a table, with the commands below it; see try.h.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "compared.h"
#include "report/queries.h"
#include "report/report.h"
#include "rows.h"
#include "trial/trial.h"
#include "try.h"

/* Exit statuses where nothing gains, and where nothing was decided. */
#define NO_GAIN    3
#define NO_VERDICT 4

struct try_counts {
    size_t all, ran, decided, gains;
};

/* Columns of AS_QUERY_TRIES. */
enum {
    NAME,
    TITLE,
    WHAT,
    VERDICT,
    SAID,
    N,
    BASE_S,
    RATIO,
    RATIO_LOW,
    RATIO_HIGH,
    GAIN_S,
    GAIN_LOW_S,
    GAIN_HIGH_S,
    RESULT,
    DIFFERS_BY,
    COMMAND,
    WHY
};

static bool is_known(struct as_rows *rows, int column)
{
    return as_rows_kind(rows, column) != AS_SQL_CELL_NULL;
}

static bool is_verdict(struct as_rows *rows, const char *word)
{
    return strcmp(as_rows_text(rows, VERDICT), word) == 0;
}

static bool is_gain(struct as_rows *rows)
{
    return is_verdict(rows, as_trial_word(AS_TRIAL_GAIN));
}

static void count_try(struct try_counts *counts, struct as_rows *rows)
{
    const bool ran = !is_verdict(rows, as_trial_word(AS_TRIAL_NOT_RUN)) &&
                     !is_verdict(rows, as_trial_word(AS_TRIAL_SAME));

    counts->all++;
    counts->ran += ran;
    counts->decided += ran && !is_verdict(rows, as_trial_word(AS_TRIAL_OPEN));
    counts->gains += is_gain(rows);
}

/* ---- The table ----------------------------------------------------------------------------- */

static void cell_signed(struct as_table *table, struct as_rows *rows, int column)
{
    if (is_known(rows, column))
        as_table_f(table, "%+.2f", -as_rows_real(rows, column));
    else
        as_table_string(table, NULL);
}

static void try_row(struct as_table *table, struct as_rows *rows)
{
    const bool bounded = is_known(rows, RATIO_HIGH);

    if (is_known(rows, RATIO))
        as_table_f(table, "%+.1f %%", 100 * (as_rows_real(rows, RATIO) - 1));
    else
        as_table_string(table, NULL);
    if (is_gain(rows))
        as_table_style(table, AS_STYLE_GREEN);
    else if (is_verdict(rows, as_trial_word(AS_TRIAL_HARM)))
        as_table_style(table, AS_STYLE_RED);
    if (bounded)
        as_table_f(table, "%+.1f to %+.1f", 100 * (as_rows_real(rows, RATIO_LOW) - 1),
                   100 * (as_rows_real(rows, RATIO_HIGH) - 1));
    else
        as_table_string(table, NULL);
    cell_signed(table, rows, GAIN_S);
    as_table_u64(table, (uint64_t)as_rows_integer(rows, N));
    as_table_string(table, as_rows_text(rows, VERDICT));
    as_table_string(table, as_rows_text(rows, NAME));
}

static int fill_tries(struct as_table *table, struct as_rows *rows, size_t limit,
                      struct try_counts *counts, double *base_s, struct as_error *err)
{
    int rc;

    *base_s = NAN;
    while ((rc = as_rows_next(rows, err)) > 0) {
        count_try(counts, rows);
        if (counts->all <= limit)
            try_row(table, rows);
        if (is_known(rows, BASE_S))
            *base_s = as_rows_real(rows, BASE_S);
    }
    return rc;
}

static int show_table(struct as_cli *cli, struct as_rows *rows, struct try_counts *counts,
                      struct as_error *err)
{
    const struct as_column column[] = {{.title = "time", .align = AS_ALIGN_RIGHT},
                                       {.title = "interval", .align = AS_ALIGN_RIGHT},
                                       {.title = "s", .align = AS_ALIGN_RIGHT},
                                       {.title = "runs", .align = AS_ALIGN_RIGHT},
                                       {.title = "verdict"},
                                       {.title = "what", .shrink = AS_SHRINK_MIDDLE, .least = 16}};
    struct as_table table;
    double base_s;

    as_table_init(&table, column, sizeof column / sizeof *column);
    int rc = fill_tries(&table, rows,
                        as_given(&cli->args, AS_OPTION_LIMIT) ? as_compared_limit(cli) : SIZE_MAX,
                        counts, &base_s, err);
    if (rc == 0 && counts->all) {
        as_cli_styled(cli, AS_STYLE_BOLD, counts->decided ? "Tried" : "Nothing is decided:");
        if (counts->ran == counts->all && counts->decided)
            as_cli_print(cli, " %zu way%s; ", counts->all, counts->all == 1 ? "" : "s");
        else
            as_cli_print(cli, " %zu of %zu settings%s; ", counts->ran, counts->all,
                         counts->decided ? "" : " ran");
        if (!isnan(base_s))
            as_cli_print(cli, "the unchanged program takes %.4g s, ", base_s);
        if (counts->gains)
            as_cli_print(cli, "%zu of them gain%s\n\n", counts->gains,
                         counts->gains == 1 ? "s" : "");
        else if (counts->decided)
            as_cli_print(cli, "none gains with certainty\n"
                              "\n");
        else
            as_cli_print(cli, "set a longer --budget\n\n");
        rc = as_table_print(&table, &cli->out, as_cli_table_width(cli), cli->color, err);
    }
    as_table_fini(&table);
    return rc;
}

/* ---- Below it ------------------------------------------------------------------------------ */

static void print_try_line(struct as_cli *cli, const char *title, const char *text)
{
    char before[32];

    snprintf(before, sizeof before, "  %-10s", title);
    as_cli_wrapped(cli, before, "%s", text);
}

/* "-1.92 s +-0.06 of 5.40 s, same results". */
static void write_measured(struct as_cli *cli, struct as_rows *rows)
{
    char text[400];
    const double gain = as_rows_real(rows, GAIN_S);
    const double half = (as_rows_real(rows, GAIN_HIGH_S) - as_rows_real(rows, GAIN_LOW_S)) / 2;

    snprintf(text, sizeof text, "%+.2f s %s%.2f of %.2f s, %s", -gain,
             as_report_locale_is_utf8() ? "\302\261" : "+-", half, as_rows_real(rows, BASE_S),
             is_known(rows, RESULT) ? as_rows_text(rows, RESULT) : "results not compared");
    print_try_line(cli, "measured", text);
}

/* Prints the command and the changes of a trial, if there are any. */
static void write_try(struct as_cli *cli, struct as_rows *rows)
{
    const bool measured =
        is_known(rows, RATIO_HIGH) &&
        (is_gain(rows) || is_verdict(rows, "harm") || is_verdict(rows, "differs"));

    if (!measured && !is_known(rows, SAID))
        return;
    as_cli_print(cli, "\n");
    as_cli_styled(cli, AS_STYLE_BOLD, as_rows_text(rows, NAME));
    as_cli_print(cli, ": %s\n", as_rows_text(rows, TITLE));
    if (is_known(rows, SAID))
        print_try_line(cli, as_rows_text(rows, VERDICT), as_rows_text(rows, SAID));
    if (!measured)
        return;
    write_measured(cli, rows);
    if (is_known(rows, WHY))
        print_try_line(cli, "changed", as_rows_text(rows, WHY));
    if (!is_verdict(rows, "harm") && is_known(rows, COMMAND))
        print_try_line(cli, "type", as_rows_text(rows, COMMAND));
}

/* Those with nothing but "no gain" are in the table alone; what never ran is said in one line. */
static int show_details(struct as_cli *cli, struct as_rows *rows, struct as_error *err)
{
    int rc;
    size_t unrun = 0;

    while ((rc = as_rows_next(rows, err)) > 0) {
        if (is_verdict(rows, "unrun") || is_verdict(rows, "same"))
            unrun++;
        else
            write_try(cli, rows);
    }
    if (rc == 0 && unrun) {
        as_cli_print(cli, "\n");
        as_cli_wrapped(cli, "",
                       "%zu %s not run: the same code as another, or no time left; 'assay show "
                       "EXP --view tries' lists them",
                       unrun, unrun == 1 ? "was" : "were");
    }
    return rc;
}

static int show_tries_text(struct as_cli *cli, struct as_experiment *experiment,
                           struct try_counts *counts, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_query_open(experiment, AS_QUERY_TRIES, &rows, err));
    int rc = show_table(cli, rows, counts, err);
    as_rows_close(&rows);
    if (rc < 0 || !counts->all)
        return rc;
    AS_TRY(as_query_open(experiment, AS_QUERY_TRIES, &rows, err));
    rc = show_details(cli, rows, err);
    as_rows_close(&rows);
    return rc;
}

/* ---- Data ---------------------------------------------------------------------------------- */

static int show_tries_json(struct as_cli *cli, struct as_experiment *experiment,
                           struct try_counts *counts, struct as_error *err)
{
    struct as_rows *rows;
    struct as_json json;
    int rc;

    AS_TRY(as_query_open(experiment, AS_QUERY_TRIES, &rows, err));
    as_compared_json_begin(&json, cli, experiment, "tries");
    as_json_array_begin(&json);
    while ((rc = as_rows_next(rows, err)) > 0) {
        as_json_object_begin(&json);
        for (int i = 0; i < as_rows_column_n(rows); i++) {
            const struct as_cell cell = as_cell_of_row(rows, i);

            as_json_key(&json, as_rows_column(rows, i));
            as_cell_json(&json, &cell);
        }
        as_json_object_end(&json);
        count_try(counts, rows);
    }
    as_json_array_end(&json);
    as_compared_json_end(&json);
    as_rows_close(&rows);
    return rc;
}

static int show_tries_csv(struct as_cli *cli, struct as_experiment *experiment,
                          struct try_counts *counts, struct as_error *err)
{
    struct as_rows *rows;
    struct as_csv csv;
    const char *names[32];
    int rc;

    AS_TRY(as_query_open(experiment, AS_QUERY_TRIES, &rows, err));
    const int columns = as_rows_column_n(rows);
    for (int i = 0; i < columns; i++)
        names[i] = as_rows_column(rows, i);
    as_cli_csv(cli, &csv);
    as_csv_header(&csv, names, (size_t)columns);
    while ((rc = as_rows_next(rows, err)) > 0) {
        for (int i = 0; i < columns; i++)
            if (as_rows_kind(rows, i) == AS_SQL_CELL_REAL)
                as_csv_double(&csv, as_rows_real(rows, i));
            else
                as_csv_string(&csv, as_rows_text(rows, i));
        as_csv_row_end(&csv);
        count_try(counts, rows);
    }
    as_rows_close(&rows);
    return rc;
}

static int count_tries(struct as_experiment *experiment, size_t *n, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_query_open(experiment, AS_QUERY_TRY_COUNT, &rows, err));
    const int rc = as_rows_next(rows, err);
    *n = rc > 0 ? (size_t)as_rows_integer(rows, 0) : 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

int as_try_show(struct as_cli *cli, struct as_experiment *experiment, struct as_error *err)
{
    struct try_counts counts = {0};
    size_t all;
    AS_TRY(count_tries(experiment, &all, err));
    if (!all)
        return as_error_set(err, AS_ERR_NOT_FOUND, "%s: has no trials; run 'assay try -- CMD'",
                            as_experiment_path(experiment));
    const int rc =
        (cli->format == AS_FORMAT_JSON  ? show_tries_json
         : cli->format == AS_FORMAT_CSV ? show_tries_csv
                                        : show_tries_text)(cli, experiment, &counts, err);
    if (rc >= 0 && !counts.gains && !cli->status)
        cli->status = counts.decided ? NO_GAIN : NO_VERDICT;
    return rc;
}
