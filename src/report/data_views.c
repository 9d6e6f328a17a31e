/* SPDX-License-Identifier: Apache-2.0 */
/* The views of the report data: descriptions of all columns, then all cells, column by column. */
#include "report/data.h"

#include <string.h>

#include "base/error.h"

/* Max metric values of one view: 3 bytes of a page each, so that the page stays below 15 MiB. */
#define METRIC_CELLS_MOST 2000000

/* ---- Cells -------------------------------------------------------------------------------- */

void as_data_texts(struct as_json *json, const struct as_grid_column *column, size_t row_n)
{
    as_json_object_begin(json);
    as_json_key(json, "dict");
    as_json_array_begin(json);
    as_vec_foreach (&column->word, it)
        as_json_string(json, *it);
    as_json_array_end(json);
    as_json_key(json, "i");
    as_json_array_begin(json);
    for (size_t i = 0; i < row_n; i++) {
        const uint32_t word = column->text.at[i];

        as_json_i64(json, word == AS_GRID_NO_TEXT ? -1 : (int64_t)word);
    }
    as_json_array_end(json);
    as_json_object_end(json);
}

void as_data_number(struct as_json *json, const struct as_grid_column *column, size_t row)
{
    if (column->real.n)
        as_json_double(json, column->real.at[row]);
    else if (column->whole.at[row] == AS_GRID_NO_INTEGER)
        as_json_null(json);
    else
        as_json_i64(json, column->whole.at[row]);
}

void as_data_numbers(struct as_json *json, const struct as_grid_column *column, size_t row_n)
{
    as_json_array_begin(json);
    for (size_t i = 0; i < row_n; i++)
        as_data_number(json, column, i);
    as_json_array_end(json);
}

static void write_cells(struct as_json *json, const struct as_grid_column *column, size_t row_n)
{
    as_json_key(json, column->is.name);
    if (as_column_kind_is_text(column->is.kind)) {
        as_data_texts(json, column, row_n);
        return;
    }
    as_json_object_begin(json);
    as_json_key(json, "v");
    as_data_numbers(json, column, row_n);
    as_json_object_end(json);
}

/* ---- Columns ------------------------------------------------------------------------------ */

static void write_column(struct as_json *json, const struct as_grid_column *column, bool is_code)
{
    const struct as_report_column *is = &column->is;

    as_json_object_begin(json);
    as_json_key_string(json, "name", is->name);
    as_json_key_string(json, "title", is->title);
    as_json_key_string(json, "group", is->group);
    as_json_key_string(json, "unit", is->unit);
    as_json_key_string(json, "kind", as_column_kind_word(is->kind));
    as_json_key_i64(json, "digits", is->digits);
    as_json_key_string(json, "meaning", is->meaning);
    as_json_key_bool(json, "shown", (is->shown || (is_code && is->code_shown)) && column->known);
    as_json_key_string(json, "better", is->better);
    as_json_key_string(json, "low", is->low);
    as_json_key_string(json, "high", is->high);
    as_json_key_string(json, "doubt", is->doubt);
    as_json_key_bool(json, "bar", is->bar || is->kind == AS_COLUMN_SHARE);
    as_json_key_string(json, "origin", is->origin);
    as_json_key_string(json, "of", column->of);
    as_json_object_end(json);
}

/* Writes words such as "module category" as an array. */
static void write_words(struct as_json *json, const char *key, const char *words)
{
    struct as_view rest = as_view_of(words), word;

    as_json_key(json, key);
    as_json_array_begin(json);
    while (words && as_view_split(&rest, ' ', &word))
        as_json_view(json, word);
    as_json_array_end(json);
}

/* Writes the meaning of the rows, and a note about left-out ones. */
static void write_meaning(struct as_json *json, const struct as_grid *grid, bool is_code)
{
    struct as_str text = {0};

    /* It refers to the experiment, which may be deleted. */
    const char *note = is_code ? NULL : grid->note;

    as_str_appendf(&text, "%s%s%s", grid->view->meaning, note ? " " : "", note ? note : "");
    as_json_key_string(json, "meaning", text.failed ? grid->view->meaning : as_str_z(&text));
    as_str_fini(&text);
}

/* Returns true for columns of measured times, which code without measurement does not have. */
static bool is_measured(const struct as_report_column *column)
{
    static const char *const groups[] = {"own",     "total", "waiting", "trust",
                                         "threads", "time",  "binary"};

    for (size_t i = 0; column->group && i < sizeof groups / sizeof *groups; i++)
        if (strcmp(column->group, groups[i]) == 0)
            return true;
    return false;
}

static void write_view(struct as_json *json, const struct as_grid *grid, bool is_code)
{
    const struct as_report_view *view = grid->view;

    as_json_object_begin(json);
    as_json_key_string(json, "name", view->name);
    as_json_key_string(json, "title", view->title);
    write_meaning(json, grid, is_code);
    as_json_key_string(json, "object", view->object);
    as_json_key_string(json, "key", view->key);
    as_json_key_string(json, "parent", view->parent);
    write_words(json, "group_by", view->group_by);
    as_json_key_string(json, "sort", is_code && view->code_sort ? view->code_sort : view->sort);
    as_json_key_u64(json, "row_n", grid->row_n);
    as_json_key(json, "columns");
    as_json_array_begin(json);
    as_vec_foreach (&grid->column, it)
        if (!is_code || !is_measured(&(*it)->is))
            write_column(json, *it, is_code);
    as_json_array_end(json);
    as_json_key(json, "data");
    as_json_object_begin(json);
    as_vec_foreach (&grid->column, it)
        if (!is_code || !is_measured(&(*it)->is))
            write_cells(json, *it, grid->row_n);
    as_json_object_end(json);
    as_json_object_end(json);
}

int as_data_views(struct as_document *document, struct as_error *err)
{
    as_json_key(&document->json, "views");
    as_json_array_begin(&document->json);
    for (size_t i = 0; i < as_report_view_n; i++) {
        struct as_report_view view = as_report_view_as(&as_report_views[i], document->no_inline);
        struct as_grid grid;
        int rc;

        if (view.only_show)
            continue;
        view.metric_cell_most = METRIC_CELLS_MOST;
        if (document->is_code && view.code_meaning)
            view.meaning = view.code_meaning;
        rc = as_grid_load(&grid, document->experiment, document->run_id, &view, err);
        if (rc == 0 && grid.row_n)
            write_view(&document->json, &grid, document->is_code);
        as_grid_fini(&grid);
        AS_TRY(rc);
    }
    as_json_array_end(&document->json);
    return 0;
}
