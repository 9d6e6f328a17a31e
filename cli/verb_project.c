/* SPDX-License-Identifier: Apache-2.0 */
/* `assay project EXP --to MACHINE`: the time of a counted run on another machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "compared.h"
#include "count/count.h"
#include "machine_page.h"
#include "roofline/roofline.h"
#include "sheet.h"

enum { PARTS_USUAL = 16 };

/* ---- Text ---------------------------------------------------------------------------------- */

static const struct as_column part_columns[] = {
    {.title = "here s", .align = AS_ALIGN_RIGHT},
    {.title = "there s", .align = AS_ALIGN_RIGHT},
    {.title = "bounds", .align = AS_ALIGN_RIGHT},
    {.title = "limit here", .align = AS_ALIGN_LEFT},
    {.title = "there", .align = AS_ALIGN_LEFT},
    {.title = "cores", .align = AS_ALIGN_LEFT},
    {.title = "loop, function", .shrink = AS_SHRINK_MIDDLE, .least = 12}};

static void part_row(struct as_table *table, const struct as_projected *it)
{
    as_table_f(table, "%.3g", it->time_s);
    if (*it->limit) {
        as_table_f(table, "%.3g", it->target_s);
        as_table_f(table, "%.3g-%.3g", it->low_s, it->high_s);
    } else {
        as_table_string(table, NULL);
        as_table_string(table, NULL);
    }
    as_table_string(table, it->limit);
    as_table_string(table, it->target_limit);
    as_table_f(table, "%.2g > %.2g", it->core_n, it->target_core_n);
    as_table_string(table, it->name);
}

static void print_caches(struct as_cli *cli, const struct as_projection *it)
{
    double curved_s = 0, all_s = 0;
    for (size_t i = 0; i < it->part_n; i++) {
        all_s += it->part[i].time_s;
        curved_s += it->part[i].by_caches ? it->part[i].time_s : 0;
    }
    as_cli_wrapped(cli, "",
                   "Traffic there is that of the caches of --caches for %.1f %% of the time; the "
                   "rest has no curve of misses (count --levels).",
                   all_s > 0 ? 100 * curved_s / all_s : 0);
}

static void print_projection(struct as_cli *cli, const struct as_projection *it, bool by_levels)
{
    const double covered = it->time_s > 0 ? 100 * it->covered_s / it->time_s : 0;
    as_cli_print(cli, "\n");
    as_cli_wrapped(cli, "", "The run: %.4g s here, %.4g s there [%.4g, %.4g], a speed-up of %.2f.",
                   it->time_s, it->target_s, it->low_s, it->high_s,
                   it->target_s > 0 ? it->time_s / it->target_s : 0);
    as_cli_wrapped(cli, "",
                   "%.1f %% of the time is projected; the rest %s there (%.3g s). The bounds take "
                   "in both assumptions about the rest.",
                   covered, it->rest == AS_REST_STAYS ? "takes as long" : "scales alike",
                   it->rest_s);
    if (as_given(&cli->args, AS_OPTION_PROJECT_CACHES))
        print_caches(cli, it);
    if (!by_levels)
        as_cli_wrapped(cli, "", "%s",
                       "Traffic beyond L1 is unknown: each loop follows the roof above it, and "
                       "its bounds cover all roofs above it.");
}

static int project_text(struct as_cli *cli, const struct as_projection *it, struct as_error *err)
{
    const size_t asked = as_given(&cli->args, AS_OPTION_LIMIT)
                             ? (size_t)cli->args.number[AS_OPTION_LIMIT]
                             : PARTS_USUAL;
    struct as_table table;
    bool by_levels = false;
    as_table_init(&table, part_columns, sizeof part_columns / sizeof *part_columns);
    for (size_t i = 0; i < it->part_n && (!asked || i < asked); i++) {
        part_row(&table, &it->part[i]);
        by_levels |= it->part[i].by_levels;
    }
    const int rc = as_table_print(&table, &cli->out, as_cli_table_width(cli), cli->color, err);
    as_table_fini(&table);
    if (rc == 0)
        print_projection(cli, it, by_levels);
    return rc;
}

/* ---- Data ---------------------------------------------------------------------------------- */

static const struct as_field part_fields[] = {
    {"kind", NULL, 0},          {"id", NULL, 0},
    {"name", NULL, 0},          {"core_n", NULL, 0},
    {"target_core_n", NULL, 0}, {"time_s", NULL, 0},
    {"target_s", NULL, 0},      {"low_s", NULL, 0},
    {"high_s", NULL, 0},        {"efficiency", NULL, 0},
    {"by_levels", NULL, 0},     {"by_caches", NULL, 0},
    {"limit", NULL, 0},         {"target_limit", NULL, 0}};
enum { PART_FIELDS = sizeof part_fields / sizeof *part_fields };

static void fill_part(void *context, size_t row, struct as_cell *cell)
{
    const struct as_projection *all = context;
    const struct as_projected *it = &all->part[row];
    cell[0] = as_cell_text(as_object_word(it->kind));
    cell[1] = as_cell_signed(it->id);
    cell[2] = as_cell_text(it->name);
    cell[3] = as_cell_real(it->core_n);
    cell[4] = as_cell_real(it->target_core_n);
    cell[5] = as_cell_real(it->time_s);
    if (!*it->limit)
        return;
    cell[6] = as_cell_real(it->target_s);
    cell[7] = as_cell_real(it->low_s);
    cell[8] = as_cell_real(it->high_s);
    cell[9] = as_cell_real(it->efficiency);
    cell[10] = as_cell_bool(it->by_levels);
    cell[11] = as_cell_bool(it->by_caches);
    cell[12] = as_cell_text(it->limit);
    cell[13] = as_cell_text(it->target_limit);
}

static void project_json(struct as_cli *cli, const struct as_experiment *experiment,
                         struct as_projection *it)
{
    struct as_json json;
    as_compared_json_begin(&json, cli, experiment, "parts");
    as_json_array_begin(&json);
    for (size_t i = 0; i < it->part_n; i++) {
        struct as_cell cell[PART_FIELDS] = {0};
        fill_part(it, i, cell);
        as_json_object_begin(&json);
        for (size_t k = 0; k < PART_FIELDS; k++) {
            as_json_key(&json, part_fields[k].key);
            as_cell_json(&json, &cell[k]);
        }
        as_json_object_end(&json);
    }
    as_json_array_end(&json);
    as_json_key_double(&json, "time_s", it->time_s);
    as_json_key_double(&json, "covered_s", it->covered_s);
    as_json_key_double(&json, "rest_s", it->rest_s);
    as_json_key_string(&json, "rest", it->rest == AS_REST_STAYS ? "stays" : "scales");
    as_json_key_double(&json, "target_s", it->target_s);
    as_json_key_double(&json, "low_s", it->low_s);
    as_json_key_double(&json, "high_s", it->high_s);
    as_compared_json_end(&json);
}

/* ---- The verb ------------------------------------------------------------------------------ */

static int show_projection(struct as_cli *cli, struct as_experiment *experiment,
                           struct as_projection *it, struct as_error *err)
{
    const struct as_sheet sheet = {part_fields, PART_FIELDS, it->part_n, it, fill_part};
    if (cli->format == AS_FORMAT_TEXT)
        return project_text(cli, it, err);
    if (cli->format == AS_FORMAT_CSV) {
        as_sheet_csv_header(cli, &sheet);
        as_sheet_csv_rows(cli, &sheet);
    } else
        project_json(cli, experiment, it);
    return 0;
}

static int project_with(struct as_cli *cli, const struct as_figures *reference,
                        const struct as_figures *target, struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    struct as_experiment *experiment = NULL;
    struct as_projection *projection = NULL;
    uint64_t cache_b[AS_COUNT_LEVELS];
    const char *caches = args->value[AS_OPTION_PROJECT_CACHES];
    if (caches)
        AS_TRY(as_count_caches(caches, cache_b, err));
    AS_TRY(as_experiment_read(args->positional[0], &experiment, err));
    int rc = as_project_run(experiment, (int64_t)args->number[AS_OPTION_RUN], reference, target,
                            caches ? cache_b : NULL,
                            (enum as_project_rest)args->number[AS_OPTION_PROJECT_REST], &projection,
                            err);
    if (rc == 0)
        rc = show_projection(cli, experiment, projection, err);
    as_projection_free(&projection);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}

int as_verb_project(struct as_cli *cli, struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    struct as_figures *reference = NULL, *target = NULL;
    if (!as_given(args, AS_OPTION_PROJECT_TO))
        return as_error_set(err, AS_ERR_USAGE,
                            "--to: no target machine is named; use a file of 'assay machine "
                            "--export'");
    int rc = as_machine_open(args->value[AS_OPTION_PROJECT_TO], &target, err);
    if (rc == 0 && as_given(args, AS_OPTION_PROJECT_FROM))
        rc = as_machine_open(args->value[AS_OPTION_PROJECT_FROM], &reference, err);
    if (rc == 0)
        rc = project_with(cli, reference, target, err);
    as_figures_free(&reference);
    as_figures_free(&target);
    return rc;
}
