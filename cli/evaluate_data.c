/* SPDX-License-Identifier: Apache-2.0 */
/* Time lines and tables as CSV and JSON: exact numbers, times in nanoseconds. */
#include "evaluate.h"

#include "base/error.h"
#include "base/version.h"

static const char *data_unit(const struct as_histogram_result *table)
{
    const struct as_statistic *s = table->table->statistic;
    const struct as_window *control = &table->configuration->window.at[table->table->control];
    return as_view_equal(as_view_of(s->unit), as_view_of("time")) ? as_unit_word(control->unit_ns)
                                                                  : s->unit;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void csv_number(struct as_csv *csv, struct as_quantity number)
{
    if (number.is_real)
        as_csv_double(csv, number.real);
    else
        as_csv_i64(csv, number.whole);
}

static int csv_time_lines(struct as_evaluating *it, struct as_csv *csv, struct as_error *err)
{
    static const char *const names[] = {"configuration", "window", "object", "begin_ns",
                                        "end_ns",        "value",  "label"};
    struct as_str object = {0};
    const void *record = NULL;
    size_t n;
    const struct as_time_line *line = as_evaluator_time_lines(it->evaluation, &n);
    int rc;
    as_csv_header(csv, names, sizeof names / sizeof *names);
    while ((rc = as_ordered_next(it->pieces, &record, err)) == 0 && record) {
        const struct as_evaluated_piece *piece = record;
        const struct as_time_line *of = &line[piece->place >> 32];
        as_str_clear(&object);
        as_evaluated_object(&it->trace, of->window->level, (uint32_t)piece->place, &object);
        as_csv_string(csv, of->configuration->name);
        as_csv_string(csv, of->window->name);
        as_csv_string(csv, as_str_z(&object));
        as_csv_i64(csv, piece->begin_ns);
        as_csv_i64(csv, piece->end_ns);
        csv_number(csv, piece->value);
        as_csv_string(csv, as_evaluated_label(&it->trace, of->window, piece->value));
        as_csv_row_end(csv);
    }
    as_str_fini(&object);
    return rc;
}

static void csv_cell(struct as_evaluating *it, struct as_csv *csv,
                     const struct as_histogram_result *table, const struct as_histogram_cell *cell)
{
    struct as_str object = {0}, column = {0}, plane = {0};
    as_evaluated_object(&it->trace, table->level, cell->row, &object);
    as_evaluate_column(it, table, cell->column, &column);
    if (table->table->plane_id)
        as_evaluate_plane(it, table, cell->plane, &plane);
    as_csv_string(csv, table->configuration->name);
    as_csv_string(csv, table->table->name);
    as_csv_string(csv, as_str_z(&plane));
    as_csv_string(csv, as_str_z(&object));
    as_csv_i64(csv, cell->column);
    as_csv_string(csv, as_str_z(&column));
    as_csv_string(csv, table->table->statistic->name);
    as_csv_string(csv, data_unit(table));
    csv_number(csv, as_histogram_cell_value(it->evaluation, table, cell));
    as_csv_row_end(csv);
    as_str_fini(&object);
    as_str_fini(&column);
    as_str_fini(&plane);
}

int as_evaluate_csv(struct as_evaluating *it, struct as_error *err)
{
    static const char *const names[] = {"configuration", "table",     "plane", "object", "column",
                                        "label",         "statistic", "unit",  "value"};
    struct as_csv csv;
    size_t lines_n, tables_n;
    const struct as_histogram_result *table = as_evaluator_tables(it->evaluation, &tables_n);
    as_evaluator_time_lines(it->evaluation, &lines_n);
    if (lines_n && tables_n)
        return as_error_set(err, AS_ERR_USAGE,
                            "--format csv: time lines and tables have different columns; evaluate "
                            "them one by one, or use --format json");
    as_cli_csv(it->cli, &csv);
    if (lines_n)
        return csv_time_lines(it, &csv, err);
    as_csv_header(&csv, names, sizeof names / sizeof *names);
    for (size_t i = 0; i < tables_n; i++)
        as_vec_foreach (&table[i].cell, cell)
            csv_cell(it, &csv, &table[i], cell);
    return 0;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_number(struct as_json *json, struct as_quantity number)
{
    if (number.is_real)
        as_json_double(json, number.real);
    else
        as_json_i64(json, number.whole);
}

static void json_key_number(struct as_json *json, const char *key, struct as_quantity number)
{
    as_json_key(json, key);
    json_number(json, number);
}

static void json_object_name(struct as_evaluating *it, struct as_json *json,
                             enum as_object_level level, uint32_t object)
{
    struct as_str name = {0};
    as_evaluated_object(&it->trace, level, object, &name);
    as_json_string(json, as_str_z(&name));
    as_str_fini(&name);
}

/* Pieces of one object: [begin, end, value]; takes them off the store. */
static int json_pieces(struct as_evaluating *it, struct as_json *json, int64_t place,
                       const void **record, struct as_error *err)
{
    as_json_array_begin(json);
    while (*record && ((const struct as_evaluated_piece *)*record)->place == place) {
        const struct as_evaluated_piece *piece = *record;
        as_json_array_begin(json);
        as_json_i64(json, piece->begin_ns);
        as_json_i64(json, piece->end_ns);
        json_number(json, piece->value);
        as_json_array_end(json);
        AS_TRY(as_ordered_next(it->pieces, record, err));
    }
    as_json_array_end(json);
    return 0;
}

static int json_time_line(struct as_evaluating *it, struct as_json *json,
                          const struct as_time_line *line, uint32_t at, const void **record,
                          struct as_error *err)
{
    as_json_object_begin(json);
    as_json_key_string(json, "configuration", line->configuration->name);
    as_json_key_string(json, "window", line->window->name);
    as_json_key_string(json, "level", as_object_level_word(line->window->level));
    as_json_key_string(json, "unit", as_unit_word(line->window->unit_ns));
    as_json_key(json, "objects");
    as_json_array_begin(json);
    for (uint32_t object = 0; object < line->objects_n; object++) {
        as_json_object_begin(json);
        as_json_key(json, "object");
        json_object_name(it, json, line->window->level, object);
        as_json_key(json, "pieces");
        AS_TRY(json_pieces(it, json, (int64_t)((uint64_t)at << 32 | object), record, err));
        as_json_object_end(json);
    }
    as_json_array_end(json);
    as_json_object_end(json);
    return 0;
}

static void json_scale(struct as_json *json, const struct as_histogram_scale *scale)
{
    as_json_object_begin(json);
    json_key_number(json, "min", scale->min);
    json_key_number(json, "max", scale->max);
    json_key_number(json, "delta", scale->delta);
    as_json_key_i64(json, "count", scale->columns_n);
    as_json_object_end(json);
}

static void json_cells(struct as_evaluating *it, struct as_json *json,
                       const struct as_histogram_result *table)
{
    as_json_array_begin(json);
    as_vec_foreach (&table->cell, cell) {
        struct as_str label = {0};
        as_json_object_begin(json);
        if (table->table->plane_id)
            as_json_key_i64(json, "plane", cell->plane);
        as_json_key(json, "object");
        json_object_name(it, json, table->level, cell->row);
        as_json_key_i64(json, "column", cell->column);
        as_evaluate_column(it, table, cell->column, &label);
        as_json_key_string(json, "label", as_str_z(&label));
        json_key_number(json, "value", as_histogram_cell_value(it->evaluation, table, cell));
        as_json_object_end(json);
        as_str_fini(&label);
    }
    as_json_array_end(json);
}

/* Over the rows of each column. Cells stand by plane, row, column: columns are gone through. */
static int json_totals(struct as_evaluating *it, struct as_json *json,
                       const struct as_histogram_result *table)
{
    static const char *const keys[] = {"total",   "average", "maximum",
                                       "minimum", "stdev",   "avg_max"};
    const size_t n = (size_t)table->columns.columns_n;
    struct as_totals *totals = as_calloc(n + 1, sizeof *totals);
    if (!totals)
        return AS_ERR_NOMEM;
    as_json_array_begin(json);
    for (size_t i = 0; i < table->cell.n;) {
        const int64_t plane = table->cell.at[i].plane;
        for (size_t c = 0; c < n; c++)
            totals[c] = (struct as_totals){0};
        for (; i < table->cell.n && table->cell.at[i].plane == plane; i++)
            as_totals_add(&totals[table->cell.at[i].column],
                          as_histogram_cell_value(it->evaluation, table, &table->cell.at[i]));
        for (size_t c = 0; c < n; c++) {
            if (!totals[c].n)
                continue;
            as_json_object_begin(json);
            if (table->table->plane_id)
                as_json_key_i64(json, "plane", plane);
            as_json_key_u64(json, "column", c);
            for (unsigned t = 0; t < AS_TOTALS_N; t++)
                json_key_number(json, keys[t], as_totals_value(&totals[c], (enum as_total_id)t));
            as_json_object_end(json);
        }
    }
    as_json_array_end(json);
    as_free(totals);
    return 0;
}

static int json_table(struct as_evaluating *it, struct as_json *json,
                      const struct as_histogram_result *table)
{
    as_json_object_begin(json);
    as_json_key_string(json, "configuration", table->configuration->name);
    as_json_key_string(json, "table", table->table->name);
    as_json_key_string(json, "level", as_object_level_word(table->level));
    as_json_key_string(json, "statistic", table->table->statistic->name);
    as_json_key_string(json, "unit", data_unit(table));
    as_json_key(json, "columns");
    json_scale(json, &table->columns);
    if (table->table->plane_id) {
        as_json_key(json, "planes");
        json_scale(json, &table->planes);
    }
    as_json_key_u64(json, "outside_n", table->outside_n);
    as_json_key_i64(json, "outside_ns", table->outside_ns);
    as_json_key(json, "cells");
    json_cells(it, json, table);
    as_json_key(json, "totals");
    AS_TRY(json_totals(it, json, table));
    as_json_object_end(json);
    return 0;
}

void as_evaluate_json_begin(struct as_json *json, struct as_cli *cli, unsigned indent)
{
    as_json_init(json, &cli->out, indent);
    as_json_object_begin(json);
    as_json_key_u64(json, "schema", AS_JSON_SCHEMA);
    as_json_key_string(json, "assay", AS_VERSION);
    as_json_key_string(json, "command", as_verbs[cli->args.verb].name);
}

int as_evaluate_json(struct as_evaluating *it, struct as_error *err)
{
    struct as_json json;
    const void *record = NULL;
    size_t n;
    as_evaluate_json_begin(&json, it->cli, 0);
    as_json_key_string(&json, "trace", it->cli->args.positional[0]);
    as_json_key_i64(&json, "end_ns", as_evaluator_end_ns(it->evaluation));
    as_json_key(&json, "time_lines");
    as_json_array_begin(&json);
    const struct as_time_line *line = as_evaluator_time_lines(it->evaluation, &n);
    AS_TRY(as_ordered_next(it->pieces, &record, err));
    for (size_t i = 0; i < n; i++)
        AS_TRY(json_time_line(it, &json, &line[i], (uint32_t)i, &record, err));
    as_json_array_end(&json);
    as_json_key(&json, "tables");
    as_json_array_begin(&json);
    const struct as_histogram_result *table = as_evaluator_tables(it->evaluation, &n);
    for (size_t i = 0; i < n; i++)
        if (json_table(it, &json, &table[i]) < 0)
            return as_error_nomem(err, table[i].table->name);
    as_json_array_end(&json);
    as_json_object_end(&json);
    as_json_finish(&json);
    return 0;
}
