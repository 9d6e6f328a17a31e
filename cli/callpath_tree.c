/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of call paths. Rows come by time, so that callers stand before what they call; a path
 * is a root if the rows lack its caller. Names give way in their middle, and indentation
 * ends where it would take the names' room.
 */
#include "callpath_tree.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/short_name.h"
#include "base/table.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "report/queries.h"
#include "rows.h"

#define NO_ROW         UINT32_MAX
#define INDENT_MAX     20 /* columns; deeper paths have their depth in front */
#define NUMBERS_MAX    8  /* columns before the tree */
#define NAME_LEAST     12
#define CATEGORY_BEGIN "  ["

/* Columns of the statement. */
enum {
    COL_RUN,
    COL_PATH,
    COL_INLINING,
    COL_PARENT,
    COL_PARENT_INLINING,
    COL_NAME,
    COL_CATEGORY,
    KEYS_N
};

struct path_row {
    const char *name, *category;
    const char *number[NUMBERS_MAX];
    int64_t run;
    uint32_t parent, first, last, next; /* rows; children in order */
    unsigned level;
};

struct path_tree {
    struct as_cli *cli;
    struct as_arena arena;
    struct as_map_view by_key;
    AS_VEC(struct path_row) row;
    struct as_column column[NUMBERS_MAX + 2];
    size_t number_n;
    unsigned step; /* columns of indentation a level */
    bool with_run;
};

/* ---- Reading ----------------------------------------------------------------------------- */

/* Numbers of text, but the depth, which the tree shows. */
static bool is_number(const struct as_report_text *text)
{
    return text->right && strcmp(text->title, "depth") != 0;
}

static void append_statement(struct path_tree *tree, const struct as_report_view *view,
                             struct as_str *sql)
{
    const struct as_report_text *number[NUMBERS_MAX];

    for (size_t i = 0; i < view->text_n && tree->number_n < NUMBERS_MAX; i++) {
        if (!is_number(&view->text[i]))
            continue;
        number[tree->number_n] = &view->text[i];
        tree->column[tree->with_run + tree->number_n++] =
            (struct as_column){.title = view->text[i].title, .align = AS_ALIGN_RIGHT};
    }
    const struct as_view_part part = {.text = number,
                                      .text_n = tree->number_n,
                                      .of_run = as_given(&tree->cli->args, AS_OPTION_RUN),
                                      .limit = tree->cli->args.number[AS_OPTION_LIMIT]};
    as_view_append_paths(view, &part, sql);
}

/* Appends the key of a path; `path` is the column of its number. */
static struct as_view key_at(struct path_tree *tree, struct as_rows *rows, int path)
{
    struct as_str key = {0};

    as_str_appendf(&key, "%lld %lld %lld", (long long)as_rows_integer(rows, COL_RUN),
                   (long long)as_rows_integer(rows, path),
                   (long long)as_rows_integer(rows, path + 1));
    const char *kept = as_arena_strndup(&tree->arena, as_str_z(&key), key.n);
    const struct as_view view = {kept, kept ? key.n : 0};
    as_str_fini(&key);
    return view;
}

static const char *text_at(struct path_tree *tree, struct as_rows *rows, int column)
{
    struct as_str text = {0};
    const struct as_cell cell = as_cell_of_row(rows, column);

    as_cell_print(&cell, &text);
    const char *kept = as_arena_strndup(&tree->arena, as_str_z(&text), text.n);
    as_str_fini(&text);
    return kept;
}

static void add_child(struct path_tree *tree, uint32_t parent, uint32_t child)
{
    struct path_row *above = &tree->row.at[parent];

    if (above->last == NO_ROW)
        above->first = child;
    else
        tree->row.at[above->last].next = child;
    above->last = child;
    tree->row.at[child].level = above->level + 1;
}

static int add_path(struct path_tree *tree, struct as_rows *rows, struct as_error *err)
{
    const uint32_t number = (uint32_t)tree->row.n;
    const struct as_view key = key_at(tree, rows, COL_PATH);
    const struct as_view parent = key_at(tree, rows, COL_PARENT);
    struct path_row row = {.name = text_at(tree, rows, COL_NAME),
                           .category = text_at(tree, rows, COL_CATEGORY),
                           .run = as_rows_integer(rows, COL_RUN),
                           .parent = parent.p ? as_map_view_get(&tree->by_key, parent) : NO_ROW,
                           .first = NO_ROW,
                           .last = NO_ROW,
                           .next = NO_ROW};

    for (size_t i = 0; i < tree->number_n; i++)
        row.number[i] = text_at(tree, rows, KEYS_N + (int)i);
    if (!key.p || as_vec_push(&tree->row, row) < 0 ||
        as_map_view_put(&tree->by_key, key, number) < 0)
        return as_error_nomem(err, "call paths");
    if (row.parent != NO_ROW)
        add_child(tree, row.parent, number);
    return 0;
}

static int read_paths(struct path_tree *tree, const struct as_report_view *view,
                      struct as_experiment *experiment, struct as_error *err)
{
    struct as_rows *rows = NULL;
    struct as_str sql = {0};

    append_statement(tree, view, &sql);
    int rc = sql.failed ? as_error_nomem(err, "the statement")
                        : as_rows_open(experiment, as_str_z(&sql), &rows, err);
    as_str_fini(&sql);
    AS_TRY(rc);
    as_rows_bind_integer(rows, 1, (int64_t)tree->cli->args.number[AS_OPTION_RUN]);
    while ((rc = as_rows_next(rows, err)) > 0)
        if ((rc = add_path(tree, rows, err)) < 0)
            break;
    as_rows_close(&rows);
    return rc;
}

/* ---- Showing ----------------------------------------------------------------------------- */

/* Appends `n` bytes of a name in `max` bytes, without its middle. */
static void append_cut(struct as_str *to, const char *name, size_t n, size_t max)
{
    const size_t kept = max > 1 ? max - 1 : 0, head = kept / 2;

    if (n <= max) {
        as_str_append(to, name, n);
        return;
    }
    as_str_append(to, name, head);
    as_str_appendz(to, "…");
    as_str_append(to, name + n - (kept - head), kept - head);
}

/* A cell of the tree: the indentation stays, then the category gives way, at last the name. */
static void shorten_path(struct as_str *to, const char *text, size_t max)
{
    const size_t indent = strspn(text, " 0123456789>");
    const char *behind = strstr(text + indent, CATEGORY_BEGIN);
    const size_t name_n = behind ? (size_t)(behind - text) - indent : strlen(text + indent);
    struct as_str name = {0}, shorter = {0};

    as_str_append(&name, text + indent, name_n);
    as_str_append(to, text, indent);
    as_short_name(&shorter, as_str_z(&name), max > indent ? max - indent : 1);
    append_cut(to, as_str_z(&shorter), shorter.n,
               max > indent + NAME_LEAST ? max - indent : NAME_LEAST);
    as_str_fini(&name);
    as_str_fini(&shorter);
}

static void append_path(struct path_tree *tree, const struct path_row *row, struct as_str *out)
{
    const char *above = row->parent == NO_ROW ? "" : tree->row.at[row->parent].category;
    const unsigned indent = row->level * tree->step;

    if (indent > INDENT_MAX)
        as_str_appendf(out, "%*s%u> ", INDENT_MAX - 4, "", row->level + 1);
    else
        as_str_appendf(out, "%*s", (int)indent, "");
    as_str_appendz(out, row->name);
    if (row->category && *row->category && strcmp(row->category, above ? above : "") != 0)
        as_str_appendf(out, CATEGORY_BEGIN "%s]", row->category);
}

static void add_tree_row(struct path_tree *tree, struct as_table *table, uint32_t number)
{
    const struct path_row *row = &tree->row.at[number];
    struct as_str path = {0};

    if (tree->with_run)
        as_table_f(table, "%lld", (long long)row->run);
    for (size_t i = 0; i < tree->number_n; i++)
        as_table_string(table, row->number[i]);
    append_path(tree, row, &path);
    as_table_string(table, as_str_z(&path));
    as_str_fini(&path);
}

/* The row that follows in the tree, or NO_ROW. */
static uint32_t next_in_tree(const struct path_tree *tree, uint32_t number)
{
    if (tree->row.at[number].first != NO_ROW)
        return tree->row.at[number].first;
    while (number != NO_ROW && tree->row.at[number].next == NO_ROW)
        number = tree->row.at[number].parent;
    return number == NO_ROW ? NO_ROW : tree->row.at[number].next;
}

static int print_tree(struct path_tree *tree, struct as_error *err)
{
    const size_t column_n = tree->with_run + tree->number_n + 1;
    struct as_table table;

    if (tree->with_run)
        tree->column[0] = (struct as_column){.title = "run", .align = AS_ALIGN_RIGHT};
    tree->column[column_n - 1] = (struct as_column){.title = "call path",
                                                    .shrink = AS_SHRINK_MIDDLE,
                                                    .least = INDENT_MAX + NAME_LEAST,
                                                    .shorten = shorten_path};
    as_table_init(&table, tree->column, column_n);
    for (uint32_t root = 0; root < tree->row.n; root++)
        if (tree->row.at[root].parent == NO_ROW)
            for (uint32_t i = root; i != NO_ROW; i = next_in_tree(tree, i))
                add_tree_row(tree, &table, i);
    const int rc = as_table_print(&table, &tree->cli->out, as_cli_table_width(tree->cli),
                                  tree->cli->color, err);
    as_table_fini(&table);
    return rc;
}

int as_callpath_tree_show(struct as_cli *cli, const struct as_report_view *view,
                          struct as_experiment *experiment, bool with_run, struct as_error *err)
{
    struct path_tree tree = {.cli = cli, .with_run = with_run};
    unsigned deepest = 0;

    as_arena_init(&tree.arena);
    as_map_view_init(&tree.by_key);
    int rc = read_paths(&tree, view, experiment, err);
    as_vec_foreach (&tree.row, row)
        deepest = row->level > deepest ? row->level : deepest;
    tree.step = 2 * deepest <= INDENT_MAX ? 2 : 1;
    if (rc == 0)
        rc = print_tree(&tree, err);
    as_vec_fini(&tree.row);
    as_map_view_fini(&tree.by_key);
    as_arena_fini(&tree.arena);
    return rc;
}
