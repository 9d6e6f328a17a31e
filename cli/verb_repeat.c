/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay repeat -- CMD...`: runs a command many times into one experiment. Prints the variation of
 * its runs, in total and by function and loop.
 */
#include <math.h>
#include <stdio.h>

#include "against.h"
#include "base/error.h"
#include "base/short_name.h"
#include "base/str.h"
#include "compared.h"
#include "external_load.h"
#include "series.h"

#define RUNS_DEFAULT 31
#define RUNS_MOST    10000

/* ---- Running ------------------------------------------------------------------------------- */

static int run_all(struct as_series *series, const char *const *command, size_t warm_up_n,
                   struct as_error *err)
{
    char label[32];
    int64_t first = 0; /* first run after the warm-up: the reference of the repetitions */
    for (size_t i = 0; i < series->run_n && !series->is_over; i++) {
        const bool is_warm_up = i < warm_up_n;
        int64_t run_id;
        snprintf(label, sizeof label, "%zu", is_warm_up ? i + 1 : i + 1 - warm_up_n);
        const struct as_series_run run = {.command = command,
                                          .kind = is_warm_up ? "warm-up" : "repeat",
                                          .label = label,
                                          .what = is_warm_up ? "warm-up" : NULL,
                                          .role =
                                              !is_warm_up && !first ? "reference" : "repetition",
                                          .reference_id = first};
        AS_TRY(as_series_run(series, &run, &run_id, err));
        if (!is_warm_up && !first)
            first = run_id;
    }
    return 0;
}

/* ---- Text ---------------------------------------------------------------------------------- */

static void show_wall(struct as_cli *cli, const struct as_stability *it)
{
    const struct as_run_spread *wall = &it->wall_s;
    as_cli_styled(cli, AS_STYLE_BOLD, "Stability");
    as_cli_print(cli, " of %zu runs\n", it->repeat_n);
    as_cli_print(cli, "  wall time  median %.4g s", wall->median.value);
    if (!isinf(wall->median.low) && !isinf(wall->median.high))
        as_cli_print(cli, " (95 %%: %.4g to %.4g)", wall->median.low, wall->median.high);
    as_cli_print(cli, ", %.4g to %.4g s\n", wall->min, wall->max);
    as_cli_print(cli, "             mean %.4g s, standard deviation %.3g s (%.2f %%)\n", wall->mean,
                 wall->deviation, wall->mean > 0 ? 100 * wall->deviation / wall->mean : 0);
    as_cli_print(cli, "  outliers   %zu\n", it->outlier_n);
    for (size_t i = 0; i < it->outlier_n; i++)
        as_cli_print(cli, "             %s\n", it->outlier[i].text);
    if (!isnan(it->drift_p))
        as_cli_print(cli, "  drift      %s (%+.3f %% a run, p = %.2g)\n",
                     it->drift_p <= 0.05 ? "yes" : "none to speak of", it->drift_pct.value,
                     it->drift_p);
}

/* Running time of all categories. */
static double all_s(const struct as_stability *it)
{
    double sum = 0;
    for (size_t i = 0; i < it->row_n; i++)
        sum += it->row[i].object.kind == AS_OBJECT_CATEGORY ? it->row[i].time_s.mean : 0;
    return sum;
}

static int show_parts(struct as_cli *cli, const struct as_stability *it, enum as_object_kind kind,
                      struct as_error *err)
{
    const struct as_column column[] = {
        {.title = "median s", .align = AS_ALIGN_RIGHT},
        {.title = "95 %", .align = AS_ALIGN_RIGHT},
        {.title = "min s", .align = AS_ALIGN_RIGHT},
        {.title = "max s", .align = AS_ALIGN_RIGHT},
        {.title = "deviation", .align = AS_ALIGN_RIGHT},
        {.title = "outliers", .align = AS_ALIGN_RIGHT},
        {.title = kind == AS_OBJECT_CATEGORY ? NULL : "where",
         .shrink = AS_SHRINK_START,
         .least = 14},
        {.title = as_compared_word(kind),
         .shrink = AS_SHRINK_MIDDLE,
         .least = 16,
         .shorten = as_short_name},
    };
    const size_t limit = as_compared_limit(cli);
    struct as_table table;
    size_t shown = 0;
    as_table_init(&table, column, sizeof column / sizeof *column);
    for (size_t i = 0; i < it->row_n && shown < limit; i++) {
        const struct as_stability_row *row = &it->row[i];
        if (row->object.kind != kind || !as_compared_is_shown(cli, row->time_s.mean, all_s(it)))
            continue;
        as_cell_seconds(&table, row->time_s.median.value);
        as_cell_interval(&table, &row->time_s.median, 1, 3);
        as_cell_seconds(&table, row->time_s.min);
        as_cell_seconds(&table, row->time_s.max);
        as_table_f(&table, "%.1f %%", row->deviation_pct);
        as_table_u64(&table, row->outlier_n);
        as_table_string(&table, row->object.where);
        as_table_string(&table, row->object.name);
        shown++;
    }
    return as_compared_table(cli, kind, &table, shown, err);
}

static int show_text(struct as_cli *cli, const struct as_stability *it, struct as_error *err)
{
    static const enum as_object_kind kinds[] = {AS_OBJECT_CATEGORY, AS_OBJECT_FUNCTION,
                                                AS_OBJECT_LOOP};
    if (it->repeat_n)
        show_wall(cli, it);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        AS_TRY(show_parts(cli, it, kinds[i], err));
    if (it->note_n)
        as_out_c(&cli->out, '\n');
    as_compared_notes(cli, it->note, it->note_n);
    return 0;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

static void csv_row(struct as_csv *csv, const char *object, const struct as_compared *it,
                    const struct as_run_spread *spread, size_t n, size_t outlier_n)
{
    as_csv_string(csv, object);
    as_csv_string(csv, it ? it->name : NULL);
    as_csv_string(csv, it ? it->where : NULL);
    as_csv_u64(csv, n);
    as_csv_double(csv, spread->min);
    as_csv_quantity(csv, &spread->median);
    as_csv_double(csv, spread->mean);
    as_csv_double(csv, spread->max);
    as_csv_double(csv, spread->deviation);
    as_csv_u64(csv, outlier_n);
    as_csv_row_end(csv);
}

static void show_csv(struct as_cli *cli, const struct as_stability *it)
{
    static const char *const names[] = {"object", "name",     "where",        "n",
                                        "min_s",  "median_s", "median_low_s", "median_high_s",
                                        "mean_s", "max_s",    "deviation_s",  "outliers"};
    struct as_csv csv;
    as_cli_csv(cli, &csv);
    as_csv_header(&csv, names, sizeof names / sizeof *names);
    if (it->repeat_n)
        csv_row(&csv, "run", NULL, &it->wall_s, it->repeat_n, it->outlier_n);
    for (size_t i = 0; i < it->row_n; i++)
        csv_row(&csv, as_compared_word(it->row[i].object.kind), &it->row[i].object,
                &it->row[i].time_s, it->repeat_n, it->row[i].outlier_n);
}

/* ---- The verb ------------------------------------------------------------------------------ */

static int show_stability(struct as_cli *cli, struct as_experiment *experiment,
                          struct as_error *err)
{
    struct as_stability *result;
    const int against = as_against_show(cli, experiment, err);
    if (against != 0)
        return against < 0 ? against : 0;
    AS_TRY(as_compare_stability(experiment, &result, err));
    if (!result)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: has no runs of 'assay repeat'; run it, or use 'assay show'",
                            as_experiment_path(experiment));
    int rc = 0;
    if (cli->format == AS_FORMAT_JSON) {
        struct as_json json;
        as_compared_json_begin(&json, cli, experiment, "stability");
        as_report_stability_json(result, &json);
        as_compared_json_end(&json);
    } else if (cli->format == AS_FORMAT_CSV) {
        show_csv(cli, result);
    } else {
        rc = show_text(cli, result, err);
    }
    as_stability_free(&result);
    return rc;
}

static int parse_run_counts(struct as_cli *cli, size_t *run_n, size_t *warm_up_n,
                            struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    *run_n = as_given(args, AS_OPTION_RUNS) ? args->number[AS_OPTION_RUNS] : RUNS_DEFAULT;
    *warm_up_n = args->number[AS_OPTION_WARM_UP];
    if (!args->positional_n)
        return as_error_set(err, AS_ERR_USAGE,
                            "repeat: no command given; use 'assay repeat -n 31 -- ./program'");
    if (*run_n < 1 || *run_n > RUNS_MOST)
        return as_error_set(err, AS_ERR_USAGE, "--runs: %zu is out of range; use 1 to %d", *run_n,
                            RUNS_MOST);
    if (*warm_up_n > RUNS_MOST)
        return as_error_set(err, AS_ERR_USAGE, "--warm-up: %zu is out of range; use 0 to %d",
                            *warm_up_n, RUNS_MOST);
    return 0;
}

int as_verb_repeat(struct as_cli *cli, struct as_error *err)
{
    struct as_series series;
    struct as_external_watch load;
    struct as_str name = {0};
    size_t run_n, warm_up_n;
    if (as_given(&cli->args, AS_OPTION_READ))
        return as_compared_read(cli, show_stability, err);
    if (as_given(&cli->args, AS_OPTION_AGAINST))
        return as_against_run(cli, err);
    AS_TRY(parse_run_counts(cli, &run_n, &warm_up_n, err));
    const char *const *command = (const char *const *)cli->args.positional;
    as_external_begin(&load);
    int rc = as_series_begin(&series, cli, run_n + warm_up_n, command, &name, err);
    if (rc == 0)
        rc = run_all(&series, command, warm_up_n, err);
    if (series.begun_n > warm_up_n) {
        struct as_error late = {0};
        as_external_load_print(cli, &load);
        const int shown = show_stability(cli, series.experiment, rc < 0 ? &late : err);
        rc = rc < 0 ? rc : shown;
    }
    rc = as_series_end(&series, as_str_z(&name), rc, err);
    as_str_fini(&name);
    return rc;
}
