/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the page of an object: rows of three tables. Knows nothing of what they say. */
#include "experiment/internal.h"

static int add_head(struct assay_experiment *experiment, const struct assay_detail *it, int64_t *id,
                    struct assay_error *err)
{
    sqlite3_stmt *s;

    AS_TRY(as_sql_prepare(experiment,
                          "INSERT OR REPLACE INTO detail (run_id, object_kind, object_id, name,"
                          " title, position, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
                          " RETURNING detail_id",
                          &experiment->detail, err));
    s = experiment->detail;
    sqlite3_bind_int64(s, 1, it->run_id);
    sqlite3_bind_int64(s, 2, (int64_t)it->kind);
    sqlite3_bind_int64(s, 3, it->object_id);
    sqlite3_bind_text(s, 4, it->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 5, it->title, -1, SQLITE_STATIC);
    sqlite3_bind_int(s, 6, it->position);
    sqlite3_bind_text(s, 7, it->text, -1, SQLITE_STATIC);
    return as_sql_insert(experiment, s, "writing a detail", id, err);
}

static int add_columns(struct assay_experiment *experiment, int64_t id,
                       const struct assay_detail *it, struct assay_error *err)
{
    AS_TRY(as_sql_prepare(experiment,
                          "INSERT INTO detail_column (detail_id, number, title)"
                          " VALUES (?1, ?2, ?3)",
                          &experiment->detail_column, err));
    for (size_t i = 0; i < it->column_n; i++) {
        sqlite3_stmt *s = experiment->detail_column;

        sqlite3_bind_int64(s, 1, id);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        sqlite3_bind_text(s, 3, it->column[i], -1, SQLITE_STATIC);
        AS_TRY(as_sql_insert(experiment, s, "writing a detail", NULL, err));
    }
    return 0;
}

static void bind_cell(sqlite3_stmt *s, const struct assay_cell *cell)
{
    switch (cell->kind) {
    case ASSAY_CELL_INTEGER:
        sqlite3_bind_int64(s, 4, cell->integer);
        break;
    case ASSAY_CELL_REAL:
        sqlite3_bind_double(s, 4, cell->real);
        break;
    case ASSAY_CELL_TEXT:
        sqlite3_bind_text(s, 4, cell->text, -1, SQLITE_STATIC);
        break;
    default:
        sqlite3_bind_null(s, 4);
        break;
    }
}

static int add_cells(struct assay_experiment *experiment, int64_t id, const struct assay_detail *it,
                     struct assay_error *err)
{
    AS_TRY(as_sql_prepare(experiment,
                          "INSERT INTO detail_cell (detail_id, row, number, value)"
                          " VALUES (?1, ?2, ?3, ?4)",
                          &experiment->detail_cell, err));
    for (size_t i = 0; i < it->row_n * it->column_n; i++) {
        sqlite3_stmt *s = experiment->detail_cell;

        sqlite3_bind_int64(s, 1, id);
        sqlite3_bind_int64(s, 2, (int64_t)(i / it->column_n));
        sqlite3_bind_int64(s, 3, (int64_t)(i % it->column_n));
        bind_cell(s, &it->cell[i]);
        AS_TRY(as_sql_insert(experiment, s, "writing a detail", NULL, err));
    }
    return 0;
}

int assay_experiment_detail(struct assay_experiment *experiment, const struct assay_detail *it,
                            struct assay_error *err)
{
    int64_t id;

    AS_TRY(as_batch_check(experiment, err));
    AS_TRY(add_head(experiment, it, &id, err));
    AS_TRY(add_columns(experiment, id, it, err));
    return add_cells(experiment, id, it, err);
}
