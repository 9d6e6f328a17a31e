/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes parts of an object's page: one row each, with its table as JSON for json_each. This file
 * does not interpret them.
 */
#include "base/json.h"
#include "experiment/internal.h"
#include "experiment/schema.h"

static void write_json_cell(struct as_json *json, const struct as_sql_cell *cell)
{
    switch (cell->kind) {
    case AS_SQL_CELL_INTEGER:
        as_json_i64(json, cell->integer);
        break;
    case AS_SQL_CELL_REAL:
        as_json_double(json, cell->real);
        break;
    case AS_SQL_CELL_TEXT:
        as_json_string(json, cell->text);
        break;
    default:
        as_json_null(json);
        break;
    }
}

static void emit_columns(struct as_json *json, const struct as_detail *it)
{
    as_json_array_begin(json);
    for (size_t i = 0; i < it->column_n; i++)
        as_json_string(json, it->column[i]);
    as_json_array_end(json);
}

static void emit_cells(struct as_json *json, const struct as_detail *it)
{
    as_json_array_begin(json);
    for (size_t row = 0; row < it->row_n; row++) {
        as_json_array_begin(json);
        for (size_t i = 0; i < it->column_n; i++)
            write_json_cell(json, &it->cell[row * it->column_n + i]);
        as_json_array_end(json);
    }
    as_json_array_end(json);
}

/* Writes the columns or the cells as JSON to `text`, which the caller frees. */
static int text_of(const struct as_detail *it,
                   void (*put)(struct as_json *, const struct as_detail *), struct as_str *text,
                   struct as_error *err)
{
    struct as_out out;
    struct as_json json;
    int rc;

    as_out_init_str(&out, text);
    as_json_init(&json, &out, 0);
    put(&json, it);
    rc = as_out_flush(&out, err);
    as_out_fini(&out);
    return rc;
}

int as_experiment_detail(struct as_experiment *experiment, const struct as_detail *it,
                         struct as_error *err)
{
    struct as_row_detail row = {
        .run_id = it->of.run_id,
        .object_kind = it->of.kind,
        .object_id = it->of.object_id,
        .name = it->name,
        .title = it->title,
        .position = it->position,
        .text = it->text,
        .pass = as_pass_name(experiment, it->pass),
    };
    struct as_str columns = {0}, cells = {0};
    int rc = as_batch_check(experiment, err);

    if (rc == 0 && it->column_n) {
        rc = text_of(it, emit_columns, &columns, err);
        if (rc == 0)
            rc = text_of(it, emit_cells, &cells, err);
        row.columns = as_str_z(&columns);
        row.cells = as_str_z(&cells);
    }
    if (rc == 0)
        rc = as_row_add(experiment, AS_TABLE_detail, &row, NULL, err);
    as_str_fini(&columns);
    as_str_fini(&cells);
    return rc;
}
