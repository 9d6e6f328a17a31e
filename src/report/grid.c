/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the rows of a view with one statement, and stores each cell in its column. */
#include "report/grid.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* ---- Columns ----------------------------------------------------------------------------- */

struct as_grid_column *as_grid_column(const struct as_grid *grid, const char *name)
{
    for (size_t i = 0; name && i < grid->column.n; i++)
        if (strcmp(grid->column.at[i]->is.name, name) == 0)
            return grid->column.at[i];
    return NULL;
}

/* Returns `name`, with as many '_' appended as needed to make it unique. */
static const char *unique(struct as_grid *grid, const char *name)
{
    const size_t n = strlen(name);
    char *copy;

    if (!as_grid_column(grid, name))
        return name;
    copy = as_arena_alloc(&grid->arena, n + 2, 1);
    if (!copy)
        return NULL;
    memcpy(copy, name, n);
    memcpy(copy + n, "_", 2);
    return unique(grid, copy);
}

struct as_grid_column *as_grid_add(struct as_grid *grid, const struct as_report_column *is)
{
    struct as_grid_column *column = as_arena_new(&grid->arena, struct as_grid_column);
    const char *name = unique(grid, is->name);

    if (!column || !name)
        return NULL;
    column->is = *is;
    column->is.name = name;
    as_map_view_init(&column->index);
    if (as_vec_push(&grid->column, column) < 0) {
        as_map_view_fini(&column->index);
        return NULL;
    }
    return column;
}

int as_grid_word(struct as_grid *grid, struct as_grid_column *column, const char *text,
                 uint32_t *index)
{
    const struct as_view view = as_view_of(text);
    const char *copy;

    *index = AS_GRID_NO_TEXT;
    if (!text)
        return 0;
    *index = as_map_view_get(&column->index, view);
    if (*index != AS_MAP_NONE)
        return 0;
    *index = (uint32_t)column->word.n;
    copy = as_arena_strndup(&grid->arena, view.p, view.n);
    if (!copy || as_vec_push(&column->word, copy) < 0)
        return AS_ERR_NOMEM;
    return as_map_view_put(&column->index, (struct as_view){copy, view.n}, *index);
}

static int push_unknown(struct as_grid_column *column)
{
    switch (column->is.kind) {
    case AS_COLUMN_UNKNOWN:
    case AS_COLUMN_NUMBER:
    case AS_COLUMN_SHARE:
        return as_vec_push(&column->real, NAN);
    case AS_COLUMN_INTEGER:
    case AS_COLUMN_FLAG:
    case AS_COLUMN_ID:
        return as_vec_push(&column->whole, AS_GRID_NO_INTEGER);
    case AS_COLUMN_TEXT:
    case AS_COLUMN_CODE:
    case AS_COLUMN_ADDRESS:
        break;
    }
    return as_vec_push(&column->text, AS_GRID_NO_TEXT);
}

int as_grid_blank(struct as_grid *grid, struct as_grid_column *column)
{
    for (size_t i = 0; i < grid->row_n; i++)
        AS_TRY(push_unknown(column));
    return 0;
}

void as_grid_fini(struct as_grid *grid)
{
    as_vec_foreach (&grid->column, it) {
        as_vec_fini(&(*it)->real);
        as_vec_fini(&(*it)->whole);
        as_vec_fini(&(*it)->text);
        as_vec_fini(&(*it)->word);
        as_map_view_fini(&(*it)->index);
    }
    as_vec_fini(&grid->column);
    as_arena_fini(&grid->arena);
}

/* ---- Rows -------------------------------------------------------------------------------- */

static int make_statement(const struct as_report_view *view, struct as_str *sql,
                          struct as_error *err)
{
    const char *separator = "SELECT ";

    for (size_t i = 0; i < view->column_n; i++) {
        if (view->column[i].metric)
            continue;
        as_str_appendf(sql, "%s%s AS \"%s\"", separator, view->column[i].sql, view->column[i].name);
        separator = ", ";
    }
    as_str_appendf(sql, " FROM %s", view->from);
    if (view->runs == AS_RUNS_ONE)
        as_str_appendz(sql, " WHERE run_id = ?1");
    if (view->runs == AS_RUNS_SOME)
        as_str_appendz(sql, " WHERE ifnull(run_id, 0) IN (0, ?1)");
    as_str_appendf(sql, " ORDER BY %s", view->order);
    if (view->row_most)
        as_str_appendf(sql, " LIMIT %zu", view->row_most);
    return sql->failed ? as_error_nomem(err, "the statement") : 0;
}

static int append_grid_cell(struct as_grid *grid, struct as_grid_column *column,
                            struct as_rows *rows, int i)
{
    uint32_t word;

    if (as_rows_kind(rows, i) == AS_SQL_CELL_NULL)
        return push_unknown(column);
    column->known = true;
    switch (column->is.kind) {
    case AS_COLUMN_UNKNOWN:
    case AS_COLUMN_NUMBER:
    case AS_COLUMN_SHARE:
        return as_vec_push(&column->real, as_rows_real(rows, i));
    case AS_COLUMN_INTEGER:
    case AS_COLUMN_FLAG:
    case AS_COLUMN_ID:
        return as_vec_push(&column->whole, as_rows_integer(rows, i));
    case AS_COLUMN_TEXT:
    case AS_COLUMN_CODE:
    case AS_COLUMN_ADDRESS:
        break;
    }
    AS_TRY(as_grid_word(grid, column, as_rows_text(rows, i), &word));
    return as_vec_push(&column->text, word);
}

static int append_grid_rows(struct as_grid *grid, struct as_rows *rows, struct as_error *err)
{
    int more;

    while ((more = as_rows_next(rows, err)) > 0) {
        for (size_t i = 0; i < grid->column.n; i++)
            if (append_grid_cell(grid, grid->column.at[i], rows, (int)i) < 0)
                return as_error_nomem(err, "the rows of a view");
        grid->row_n++;
    }
    /* Writers of rows index every column by the row number. */
    for (size_t i = 0; i < grid->column.n; i++)
        assert(grid->column.at[i]->real.n + grid->column.at[i]->whole.n +
                   grid->column.at[i]->text.n ==
               grid->row_n);
    return more;
}

int as_grid_load(struct as_grid *grid, struct as_experiment *experiment, int64_t run_id,
                 const struct as_report_view *view, struct as_error *err)
{
    struct as_rows *rows = NULL;
    struct as_str sql = {0};
    int rc;

    *grid = (struct as_grid){.view = view};
    as_arena_init(&grid->arena);
    for (size_t i = 0; i < view->column_n; i++) {
        struct as_grid_column *column;

        if (view->column[i].metric)
            continue;
        column = as_grid_add(grid, &view->column[i]);
        if (!column)
            return as_error_nomem(err, "the columns of a view");
        column->position = i;
    }
    rc = make_statement(view, &sql, err);
    if (rc == 0)
        rc = as_rows_open(experiment, as_str_z(&sql), &rows, err);
    if (rc == 0) {
        as_rows_bind_integer(rows, 1, run_id);
        rc = append_grid_rows(grid, rows, err);
    }
    as_rows_close(&rows);
    as_str_fini(&sql);
    if (rc == 0 && view->object && view->key)
        rc = as_grid_metrics(grid, experiment, run_id, err);
    return rc;
}
