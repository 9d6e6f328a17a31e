/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as text, JSON and CSV. Text goes out in tables of some hundred rows that continue each other
 * under one header; a column never gets narrower on the way.
 */
#include "rows.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/json.h"
#include "base/short_name.h"
#include "base/utf8.h"
#include "sheet.h"
#include "text.h"

/* Rows of text that are laid out together. */
#define TEXT_ROWS 500

/* Columns of a name: fewer hide optional columns first; and the least. */
#define NAME_WANTED 18
#define NAME_LEAST  10
#define NAME_MOST   72

struct show {
    struct as_cli *cli;
    struct as_rows *rows;
    const struct as_rows_style *style;
    int column_n;
    const char **name; /* unique */
    bool *is_truth;
    struct as_arena arena;
    struct as_str text; /* of the cell at hand */
};

/* ---- Columns ----------------------------------------------------------------------------- */

static bool is_used(const struct show *show, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(show->name[i], name) == 0)
            return true;
    return false;
}

/* Objects cannot have two members of one name: the second "id" becomes "id_2". */
static const char *unique_name(struct show *show, int column)
{
    const char *name = as_rows_column(show->rows, column);

    if (!name)
        return NULL;
    as_str_clear(&show->text);
    as_str_appendz(&show->text, name);
    for (int i = 2; is_used(show, column, as_str_z(&show->text)); i++) {
        as_str_clear(&show->text);
        as_str_appendf(&show->text, "%s_%d", name, i);
    }
    return as_arena_strndup(&show->arena, as_str_z(&show->text), show->text.n);
}

static bool names_truth(const char *name)
{
    return strncmp(name, "is_", 3) == 0 || strncmp(name, "has_", 4) == 0 ||
           strcmp(name, "few_samples") == 0;
}

static int set_up(struct show *show, struct as_error *err)
{
    show->column_n = as_rows_column_n(show->rows);
    show->name = as_arena_array(&show->arena, const char *, (size_t)show->column_n + 1);
    show->is_truth = as_arena_array(&show->arena, bool, (size_t)show->column_n + 1);
    if (!show->name || !show->is_truth)
        return as_error_nomem(err, "the columns");
    for (int i = 0; i < show->column_n; i++) {
        show->name[i] = unique_name(show, i);
        if (!show->name[i])
            return as_error_nomem(err, "the columns");
        show->is_truth[i] = show->style->truths && names_truth(show->name[i]);
    }
    return 0;
}

/* ---- Cells ------------------------------------------------------------------------------- */

struct as_cell as_cell_of_row(struct as_rows *rows, int column)
{
    switch (as_rows_kind(rows, column)) {
    case AS_SQL_CELL_INTEGER:
        return as_cell_signed(as_rows_integer(rows, column));
    case AS_SQL_CELL_REAL:
        return as_cell_real(as_rows_real(rows, column));
    case AS_SQL_CELL_TEXT:
        return as_cell_text(as_rows_text(rows, column));
    case AS_SQL_CELL_NULL:
    case AS_SQL_CELL_BLOB:
        break;
    }
    return as_cell_text(NULL);
}

/* Truths are words, bytes are hexadecimal. */
static struct as_cell cell_at(struct show *show, int column)
{
    const unsigned char *blob;
    const enum as_sql_cell_kind kind = as_rows_kind(show->rows, column);
    size_t n;

    if (kind == AS_SQL_CELL_INTEGER && show->is_truth[column])
        return as_cell_bool(as_rows_integer(show->rows, column) != 0);
    if (kind != AS_SQL_CELL_BLOB)
        return as_cell_of_row(show->rows, column);
    blob = as_rows_blob(show->rows, column, &n);
    as_str_clear(&show->text);
    for (size_t i = 0; i < n; i++)
        as_str_appendf(&show->text, "%02x", blob[i]);
    return as_cell_text(as_str_z(&show->text));
}

/* ---- JSON and CSV ------------------------------------------------------------------------ */

static int show_json(struct show *show, struct as_error *err)
{
    struct as_json json;
    int more;

    as_json_init(&json, &show->cli->out, 1);
    as_json_array_begin(&json);
    while ((more = as_rows_next(show->rows, err)) > 0 && !show->cli->out.failed) {
        as_json_object_begin(&json);
        for (int i = 0; i < show->column_n; i++) {
            const struct as_cell cell = cell_at(show, i);

            as_json_key(&json, show->name[i]);
            as_cell_json(&json, &cell);
        }
        as_json_object_end(&json);
    }
    if (more < 0)
        return more;
    as_json_array_end(&json);
    as_json_finish(&json);
    return 0;
}

static int show_rows_csv(struct show *show, struct as_error *err)
{
    struct as_csv csv;
    int more;

    as_cli_csv(show->cli, &csv);
    as_csv_header(&csv, show->name, (size_t)show->column_n);
    while ((more = as_rows_next(show->rows, err)) > 0 && !show->cli->out.failed) {
        for (int i = 0; i < show->column_n; i++) {
            const struct as_cell cell = cell_at(show, i);

            as_cell_csv(&csv, &cell);
        }
        as_csv_row_end(&csv);
    }
    return more < 0 ? more : 0;
}

/* ---- Text -------------------------------------------------------------------------------- */

struct layout {
    struct as_column *column;
    size_t *width; /* widest cell so far */
    bool *is_number;
};

/* Columns of the table; behind them are those that are wrapped. */
static int count_columns(const struct show *show)
{
    int n = show->column_n;

    while (show->style->look && n > 1 && show->style->look[n - 1].wrapped)
        n--;
    return n;
}

/* Adds a cell as lines under its row; all but the first of a row have a mark. */
static void add_wrapped(struct show *show, struct as_table *table, const char *text, bool is_first)
{
    enum { INDENT = 2, MARK = 2 };
    const unsigned width = as_cli_table_width(show->cli);
    const unsigned used = 2 * INDENT + (is_first ? 0 : MARK);
    struct as_str all = {0}, line = {0};
    struct as_view rest, part;

    as_wrap(&all, text, 0, 0, width ? width - used : UINT32_MAX);
    rest = as_view_of(as_str_z(&all));
    for (bool is_begin = true; as_view_split(&rest, '\n', &part) && part.n; is_begin = false) {
        as_str_clear(&line);
        as_str_appendf(&line, "%*s%s%.*s", INDENT, "",
                       is_first   ? ""
                       : is_begin ? "→ "
                                  : "  ",
                       (int)part.n, part.p);
        as_table_note(table, as_str_z(&line));
    }
    as_str_fini(&all);
    as_str_fini(&line);
}

/* Returns whether a column has names of functions, which have a short form. */
static bool has_names(const struct as_rows_look *look)
{
    return look && look->elastic && !look->keeps_end;
}

static void columns_make(const struct show *show, struct layout *layout, bool is_first)
{
    for (int i = 0; i < count_columns(show); i++) {
        const struct as_rows_look *look = show->style->look ? &show->style->look[i] : NULL;
        const bool right = look ? look->right : layout->is_number[i];
        const bool is_hidden = !is_first && layout->column[i].hidden;

        layout->column[i] = (struct as_column){
            .title = is_first ? show->name[i] : NULL,
            .align = right ? AS_ALIGN_RIGHT : AS_ALIGN_LEFT,
            .shrink = !(look ? look->elastic : !right) ? AS_SHRINK_NOT
                      : look && look->keeps_end        ? AS_SHRINK_START
                                                       : AS_SHRINK_END,
            .shorten = has_names(look) ? as_short_name : NULL,
            .least = NAME_WANTED,
            .wide = layout->width[i],
            .optional = look && look->optional,
            .hidden = is_hidden,
        };
    }
}

/* Appends the cell of column `i`. Without the width of a terminal a long name of a function has its
 * short form. */
static void print_brief(const struct show *show, int i, const struct as_cell *cell,
                        struct as_str *out)
{
    const struct as_rows_look *look = show->style->look ? &show->style->look[i] : NULL;

    if (has_names(look) && cell->kind == AS_CELL_TEXT && !as_cli_table_width(show->cli))
        as_short_name(out, cell->text, NAME_MOST);
    else
        as_cell_print(cell, out);
}

/* Takes the current row into `table`. */
static void add_shown_row(struct show *show, struct as_table *table, struct layout *layout)
{
    const int table_n = count_columns(show);
    struct as_str printed = {0};

    for (int i = 0; i < show->column_n; i++) {
        const struct as_cell cell = cell_at(show, i);

        as_str_clear(&printed);
        print_brief(show, i, &cell, &printed);
        if (i >= table_n) {
            add_wrapped(show, table, as_str_z(&printed), i == table_n);
            continue;
        }
        const size_t width = as_utf8_width(as_view_of(as_str_z(&printed)));

        layout->is_number[i] &= cell.kind != AS_CELL_TEXT;
        if (width > layout->width[i])
            layout->width[i] = width;
        as_table_string(table, as_str_z(&printed));
    }
    as_str_fini(&printed);
}

/* The next rows as one table; `*more` as as_rows_next says. */
static int show_some(struct show *show, struct layout *layout, bool is_first, int *more,
                     struct as_error *err)
{
    struct as_table table;
    int rc;

    as_table_init(&table, layout->column, (size_t)count_columns(show));
    for (int i = 0; i < TEXT_ROWS && (*more = as_rows_next(show->rows, err)) > 0; i++)
        add_shown_row(show, &table, layout);
    columns_make(show, layout, is_first);
    if (is_first)
        as_table_hide(&table, layout->column, as_cli_table_width(show->cli));
    for (int i = 0; i < count_columns(show); i++)
        layout->column[i].least = NAME_LEAST;
    rc = *more < 0 ? *more
                   : as_table_print(&table, &show->cli->out, as_cli_table_width(show->cli),
                                    show->cli->color, err);
    as_table_fini(&table);
    return rc;
}

static int show_rows_text(struct show *show, struct as_error *err)
{
    const size_t n = (size_t)show->column_n;
    struct layout layout = {
        .column = as_arena_array(&show->arena, struct as_column, n),
        .width = as_arena_array(&show->arena, size_t, n),
        .is_number = as_arena_array(&show->arena, bool, n),
    };
    bool is_first = true;
    int more = 1;

    if (!layout.column || !layout.width || !layout.is_number)
        return as_error_nomem(err, "the columns");
    for (size_t i = 0; i < n; i++) {
        layout.is_number[i] = true;
        layout.width[i] = as_utf8_width(as_view_of(show->name[i]));
    }
    while (more > 0 && !show->cli->out.failed) {
        AS_TRY(show_some(show, &layout, is_first, &more, err));
        is_first = false;
    }
    return 0;
}

int as_rows_show(struct as_cli *cli, struct as_rows *rows, const struct as_rows_style *style,
                 struct as_error *err)
{
    struct show show = {.cli = cli, .rows = rows, .style = style};
    int rc;

    as_arena_init(&show.arena);
    rc = set_up(&show, err);
    if (rc == 0 && show.column_n == 0)
        rc = 0; /* a statement without a result, as some pragmas are */
    else if (rc == 0)
        rc = cli->format == AS_FORMAT_JSON  ? show_json(&show, err)
             : cli->format == AS_FORMAT_CSV ? show_rows_csv(&show, err)
                                            : show_rows_text(&show, err);
    as_str_fini(&show.text);
    as_arena_fini(&show.arena);
    return rc;
}
