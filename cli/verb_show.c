/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay show EXP`: the summary of a run, or a view of the experiment with --view. JSON and CSV
 * have all columns; text has the columns that data/report/ chooses.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/str.h"
#include "callpath_tree.h"
#include "report/queries.h"
#include "report/report.h"
#include "report/views.h"
#include "rows.h"
#include "unfinished.h"

#define FIELDS_MAX 16

/* ---- The statement ----------------------------------------------------------------------- */

static bool is_of_run(const struct as_report_view *view)
{
    return view->runs != AS_RUNS_NONE;
}

/* Amounts are of interest from the largest, names and numbers of things from the first. */
static bool is_amount(const char *column)
{
    static const char *const ending[] = {"_s", "_n", "_b", "_pct", "_hz"};
    const struct as_view name = as_view_of(column);

    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (as_view_ends(name, ending[i]))
            return strcmp(column, "start_s") != 0 && strcmp(column, "end_s") != 0;
    return strcmp(column, "value") == 0 || strcmp(column, "gain") == 0 || strcmp(column, "n") == 0;
}

/* --sort must be a column of the view. */
static int check_sort(struct as_experiment *experiment, const struct as_report_view *view,
                      const char *column, struct as_error *err)
{
    struct as_nearest nearest;
    struct as_rows *rows = NULL;
    bool found = false;
    int rc = 0;

    AS_TRY(as_view_open_columns(experiment, view, &rows, err));
    as_nearest_init(&nearest, column, strlen(column));
    for (int i = 0; i < as_rows_column_n(rows); i++) {
        found |= strcmp(column, as_rows_column(rows, i)) == 0;
        as_nearest_offer(&nearest, as_rows_column(rows, i));
    }
    if (!found && nearest.best)
        rc = as_error_set(err, AS_ERR_USAGE,
                          "--sort: no column '%s' in the view %s; did you mean %s?", column,
                          view->name, nearest.best);
    else if (!found)
        rc = as_error_set(err, AS_ERR_USAGE,
                          "--sort: no column '%s' in the view %s; use a name of its CSV heading",
                          column, view->name);
    as_rows_close(&rows);
    return rc;
}

/* The columns of text for which the experiment has something, at most `most`. */
static int choose_texts(struct as_experiment *experiment, const struct as_report_view *view,
                        const struct as_report_text **text, size_t most, size_t *n,
                        struct as_error *err)
{
    *n = 0;
    for (size_t i = 0; i < view->text_n && *n < most; i++) {
        struct as_rows *rows = NULL;
        int is_there = 1;
        if (view->text[i].metric) {
            AS_TRY(as_query_open(experiment, AS_QUERY_METRIC, &rows, err));
            as_rows_bind_text(rows, 1, view->text[i].metric);
            is_there = as_rows_next(rows, err);
            as_rows_close(&rows);
        }
        if (is_there < 0)
            return is_there;
        if (is_there)
            text[(*n)++] = &view->text[i];
    }
    return 0;
}

static int make_statement(struct as_cli *cli, const struct as_report_view *view,
                          const struct as_report_text *const *text, size_t text_n,
                          struct as_experiment *experiment, bool of_several, struct as_str *sql,
                          struct as_error *err)
{
    const char *sort = cli->args.value[AS_OPTION_SORT_VIEW];
    const char *iteration = cli->args.value[AS_OPTION_SHOW_ITERATION];
    const struct as_view_part part = {.text = cli->format == AS_FORMAT_TEXT ? text : NULL,
                                      .text_n = text_n,
                                      .with_run = of_several,
                                      .of_run =
                                          is_of_run(view) && as_given(&cli->args, AS_OPTION_RUN),
                                      .by_region = as_given(&cli->args, AS_OPTION_SHOW_REGION),
                                      .iterations = !iteration                      ? AS_VIEW_ANY
                                                    : strcmp(iteration, "all") == 0 ? AS_VIEW_WHOLE
                                                                                    : AS_VIEW_ONE,
                                      .sort = sort,
                                      .is_falling = sort && is_amount(sort),
                                      .limit = cli->args.number[AS_OPTION_LIMIT]};

    if (sort)
        AS_TRY(check_sort(experiment, view, sort, err));
    as_view_append_statement(view, &part, sql);
    return sql->failed ? as_error_nomem(err, "the statement") : 0;
}

/* ---- Showing ----------------------------------------------------------------------------- */

/* How many runs there are; --run must be one of them. */
static int count_runs(struct as_cli *cli, struct as_experiment *experiment, int64_t *run_n,
                      struct as_error *err)
{
    const bool is_given = as_given(&cli->args, AS_OPTION_RUN);
    const int64_t run_id = (int64_t)cli->args.number[AS_OPTION_RUN];
    struct as_rows *rows = NULL;
    int rc;

    AS_TRY(as_query_open_of(experiment, AS_QUERY_RUN_COUNTS, run_id, &rows, err));
    rc = as_rows_next(rows, err);
    *run_n = rc > 0 ? as_rows_integer(rows, 0) : 0;
    if (rc > 0 && is_given && !as_rows_integer(rows, 2))
        rc = as_error_set(err, AS_ERR_USAGE, "--run: %s has no run %lld; its last is %lld",
                          as_experiment_path(experiment), (long long)run_id,
                          (long long)as_rows_integer(rows, 1));
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* Call paths are a tree in their own order only. */
static bool is_tree(const struct as_cli *cli, const struct as_report_view *view)
{
    return cli->format == AS_FORMAT_TEXT && strcmp(view->name, "callpaths") == 0 &&
           !as_given(&cli->args, AS_OPTION_SORT_VIEW);
}

static int show_view(struct as_cli *cli, const struct as_report_view *asked,
                     struct as_experiment *experiment, struct as_error *err)
{
    const struct as_report_view shown =
        as_report_view_as(asked, as_given(&cli->args, AS_OPTION_NO_INLINE));
    const struct as_report_view *view = &shown;
    const struct as_report_text *text[FIELDS_MAX];
    struct as_rows_look look[FIELDS_MAX + 1] = {0};
    size_t text_n = 0;
    struct as_rows_style style = {.look = look, .truths = true};
    struct as_rows *rows = NULL;
    struct as_str sql = {0};
    int64_t run_n = 0;
    int rc = count_runs(cli, experiment, &run_n, err);
    const bool of_several = run_n > 1 && is_of_run(view) && !as_given(&cli->args, AS_OPTION_RUN) &&
                            strcmp(view->text[0].sql, "run_id") != 0;

    if (rc == 0 && is_tree(cli, view))
        return as_callpath_tree_show(cli, view, experiment, of_several, err);
    look[0].right = of_several;
    if (rc == 0)
        rc = choose_texts(experiment, view, text, FIELDS_MAX, &text_n, err);
    for (size_t i = 0; i < text_n; i++)
        look[i + of_several] = (struct as_rows_look){.right = text[i]->right,
                                                     .elastic = text[i]->elastic,
                                                     .wrapped = text[i]->wrapped,
                                                     .optional = text[i]->optional,
                                                     .keeps_end = strcmp(text[i]->title, "path") ==
                                                                  0}; /* the function */
    if (rc == 0)
        rc = make_statement(cli, view, text, text_n, experiment, of_several, &sql, err);
    if (rc == 0)
        rc = as_rows_open(experiment, as_str_z(&sql), &rows, err);
    if (rc == 0) {
        const char *region = cli->args.value[AS_OPTION_SHOW_REGION];
        const char *iteration = cli->args.value[AS_OPTION_SHOW_ITERATION];
        as_rows_bind_integer(rows, 1, (int64_t)cli->args.number[AS_OPTION_RUN]);
        if (region)
            as_rows_bind_text(rows, 2, region);
        if (iteration && strcmp(iteration, "all") != 0)
            as_rows_bind_integer(rows, 3, strtoll(iteration, NULL, 10));
        rc = as_rows_show(cli, rows, &style, err);
    }
    as_rows_close(&rows);
    as_str_fini(&sql);
    return rc;
}

static int summarise(struct as_cli *cli, struct as_experiment *experiment, struct as_error *err)
{
    const int64_t run_id = (int64_t)cli->args.number[AS_OPTION_RUN];
    const struct as_report_text_options options = {
        .width = as_cli_width(cli),
        .colour = cli->color,
        .utf8 = as_report_locale_is_utf8(),
        .rows = cli->args.number[AS_OPTION_LIMIT],
        .no_inline = as_given(&cli->args, AS_OPTION_NO_INLINE),
    };

    if (as_given(&cli->args, AS_OPTION_RUN)) {
        int64_t run_n;

        AS_TRY(count_runs(cli, experiment, &run_n, err));
    }
    if (cli->format == AS_FORMAT_JSON)
        return as_report_profile_json(experiment, run_id, &options, &cli->out, err);
    return as_report_profile(experiment, run_id, &options, &cli->out, err);
}

/* The summary is not a table. */
static int check_summary(struct as_cli *cli, struct as_error *err)
{
    if (cli->format == AS_FORMAT_CSV)
        return as_error_set(err, AS_ERR_USAGE,
                            "--format: the summary has no CSV; use --view, or --format json");
    if (as_given(&cli->args, AS_OPTION_SORT_VIEW))
        return as_error_set(err, AS_ERR_USAGE, "--sort: the summary has a fixed order; use --view");
    return 0;
}

/* --region and --iteration choose rows of phases. */
static int check_phases(const struct as_cli *cli, const struct as_report_view *view,
                        struct as_error *err)
{
    const char *text = cli->args.value[AS_OPTION_SHOW_ITERATION];
    const bool is_region = as_given(&cli->args, AS_OPTION_SHOW_REGION);
    char *end = NULL;
    if ((is_region || text) && (!view || strcmp(view->name, "phases") != 0))
        return as_error_set(err, AS_ERR_USAGE,
                            "--%s: it chooses rows of the view phases; use it with --view phases",
                            is_region ? "region" : "iteration");
    if (!text || strcmp(text, "all") == 0)
        return 0;
    const long long number = strtoll(text, &end, 10);
    return end == text || *end || number < 1
               ? as_error_set(err, AS_ERR_USAGE,
                              "--iteration: invalid value '%s'; use a number from 1, or all", text)
               : 0;
}

int as_verb_show(struct as_cli *cli, struct as_error *err)
{
    const struct as_report_view *view =
        as_report_view(cli->args.value[AS_OPTION_VIEW]); /* or none */
    struct as_experiment *experiment = NULL;
    int rc;

    AS_TRY(check_phases(cli, view, err));
    if (!view)
        AS_TRY(check_summary(cli, err));
    AS_TRY(as_experiment_read(cli->args.positional[0], &experiment, err));
    rc = view ? show_view(cli, view, experiment, err) : summarise(cli, experiment, err);
    if (rc == 0 && view)
        rc = as_unfinished_note(cli, experiment, (int64_t)cli->args.number[AS_OPTION_RUN], NULL,
                                err);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}
