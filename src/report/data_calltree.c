/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of the report data: the call paths of a run as a prefix tree in columns, parents
 * before children. If there are too many paths, the heaviest are kept. The samples of the others
 * count as rest of their parent path, so all sums stay. Inlined functions are inserted between
 * paths. Frames that entered the kernel without a call are marked, so that the page can fold the
 * interrupted frames. data/report/kernel-entries.txt has the rules.
 */
#include "report/calltree.h"

#include "base/alloc.h"
#include "base/error.h"
#include "kernel_entries.h"

#define PATHS_MOST 100000
#define REST       "[small paths]"

/* clang-format off */
static const struct as_report_column columns[] = {
    [AS_TREE_ID] = {.name = "id", .sql = "callpath_id", .kind = AS_COLUMN_ID},
    [AS_TREE_PARENT] = {.name = "parent", .sql = "parent_id", .kind = AS_COLUMN_ID},
    [AS_TREE_FUNCTION] = {.name = "function", .sql = "function", .kind = AS_COLUMN_CODE},
    [AS_TREE_FUNCTION_ID] = {.name = "function_id", .sql = "function_id", .kind = AS_COLUMN_ID},
    [AS_TREE_MODULE] = {.name = "module", .sql = "module", .kind = AS_COLUMN_TEXT},
    [AS_TREE_CATEGORY] = {.name = "category", .sql = "category", .kind = AS_COLUMN_TEXT},
    [AS_TREE_SITE] = {.name = "site", .sql = "replace(path, rtrim(path, replace(path, '/', '')), '')"
                                     " || ':' || line", .kind = AS_COLUMN_TEXT},
    [AS_TREE_ENTRY] = {.name = "entry", .sql = "CASE kind WHEN 'kernel' THEN " AS_KERNEL_ENTRY_SQL " END",
               .kind = AS_COLUMN_TEXT},
    [AS_TREE_INLINED] = {.name = "inlined", .sql = "0", .kind = AS_COLUMN_FLAG},
    [AS_TREE_SELF_N] = {.name = "self_n", .sql = "exclusive_n", .kind = AS_COLUMN_INTEGER},
    [AS_TREE_SELF_S] = {.name = "self_s", .sql = "exclusive_ns / 1e9", .kind = AS_COLUMN_NUMBER},
    [AS_TREE_BLOCKED_S] = {.name = "blocked_s", .sql = "blocked_ns / 1e9", .kind = AS_COLUMN_NUMBER},
    [AS_TREE_ALL_N] = {.name = "all_n", .sql = "inclusive_n", .kind = AS_COLUMN_INTEGER},
    [AS_TREE_ALL_S] = {.name = "all_s", .sql = "inclusive_ns / 1e9", .kind = AS_COLUMN_NUMBER},
    [AS_TREE_ALL_BLOCKED_S] = {.name = "all_blocked_s", .sql = "blocked_inclusive_ns / 1e9",
                       .kind = AS_COLUMN_NUMBER},
    [AS_TREE_CATEGORY_ID] = {.name = "category_id", .sql = "category_id", .kind = AS_COLUMN_ID},
    [AS_TREE_INLINING_ID] = {.name = "inlining_id", .sql = "inlining_id", .kind = AS_COLUMN_ID},
};
_Static_assert(sizeof columns / sizeof *columns == AS_TREE_INLINING_ID + 1, "an entry for each of the enumeration");
/* clang-format on */

/* A path is at least as heavy as its children, and shorter. So parents come first. */
static const struct as_report_view paths = {
    .name = "calltree",
    .from = "(SELECT t.run_id, t.exclusive_n, t.exclusive_ns, t.blocked_ns, t.inclusive_n,"
            " t.inclusive_ns, t.blocked_inclusive_ns, p.callpath_id, p.parent_id, p.depth,"
            " p.function_id, f.name AS function, m.name AS module, c.name AS category, s.path,"
            " l.number AS line, m.kind, p.category_id, a.inlining_id"
            " FROM callpath_time t JOIN callpath p USING (callpath_id)"
            " JOIN function f USING (function_id) JOIN module m USING (module_id)"
            " LEFT JOIN category c ON c.category_id = p.category_id"
            " LEFT JOIN location a ON a.location_id = p.call_location_id"
            " LEFT JOIN line l ON l.line_id = a.line_id"
            " LEFT JOIN source_file s USING (source_file_id))",
    .order = "inclusive_ns + blocked_inclusive_ns DESC, depth, callpath_id",
    .runs = AS_RUNS_ONE,
    .column = columns,
    .column_n = sizeof columns / sizeof *columns,
};

/* Replaces ids of parents by their rows, -1 for the outermost. */
static int number_parents(struct as_grid *grid)
{
    struct as_grid_column *id = grid->column.at[AS_TREE_ID],
                          *parent = grid->column.at[AS_TREE_PARENT];
    struct as_map_u64 row;
    int rc = 0;

    as_map_u64_init(&row);
    for (size_t i = 0; rc == 0 && i < grid->row_n; i++) {
        const uint32_t at = parent->whole.at[i] == AS_GRID_NO_INTEGER
                                ? AS_MAP_NONE
                                : as_map_u64_get(&row, (uint64_t)parent->whole.at[i]);

        parent->whole.at[i] = at == AS_MAP_NONE ? -1 : (int64_t)at;
        rc = as_map_u64_put(&row, (uint64_t)id->whole.at[i], (uint32_t)i);
    }
    as_map_u64_fini(&row);
    return rc;
}

/* ---- Left-out paths ---------------------------------------------------------------------- */

static void cut_rows(struct as_grid *grid, size_t row_n)
{
    grid->row_n = row_n;
    as_vec_foreach (&grid->column, it) {
        (*it)->real.n = (*it)->real.n ? row_n : 0;
        (*it)->whole.n = (*it)->whole.n ? row_n : 0;
        (*it)->text.n = (*it)->text.n ? row_n : 0;
    }
}

struct rest {
    double self_s, blocked_s;
    int64_t self_n;
};

/* Computes the samples of each path that belong neither to itself nor to its kept children. */
static struct rest *find_rests(const struct as_grid *grid)
{
    struct as_grid_column *const *at = grid->column.at;
    struct rest *rest = as_calloc(grid->row_n, sizeof *rest);

    for (size_t i = 0; rest && i < grid->row_n; i++) {
        const int64_t parent = at[AS_TREE_PARENT]->whole.at[i];

        rest[i].self_n += at[AS_TREE_ALL_N]->whole.at[i] - at[AS_TREE_SELF_N]->whole.at[i];
        rest[i].self_s += at[AS_TREE_ALL_S]->real.at[i] - at[AS_TREE_SELF_S]->real.at[i];
        rest[i].blocked_s +=
            at[AS_TREE_ALL_BLOCKED_S]->real.at[i] - at[AS_TREE_BLOCKED_S]->real.at[i];
        if (parent >= 0) {
            rest[parent].self_n -= at[AS_TREE_ALL_N]->whole.at[i];
            rest[parent].self_s -= at[AS_TREE_ALL_S]->real.at[i];
            rest[parent].blocked_s -= at[AS_TREE_ALL_BLOCKED_S]->real.at[i];
        }
    }
    return rest;
}

static int add_rest(struct as_grid *grid, size_t parent, const struct rest *rest)
{
    struct as_grid_column *const *at = grid->column.at;
    uint32_t word;

    AS_TRY(as_grid_word(grid, at[AS_TREE_FUNCTION], REST, &word));
    AS_TRY(as_vec_push(&at[AS_TREE_FUNCTION]->text, word));
    AS_TRY(as_vec_push(&at[AS_TREE_PARENT]->whole, (int64_t)parent));
    AS_TRY(as_vec_push(&at[AS_TREE_FUNCTION_ID]->whole, AS_GRID_NO_INTEGER));
    for (int i = AS_TREE_MODULE; i <= AS_TREE_ENTRY; i++)
        AS_TRY(as_vec_push(&at[i]->text, AS_GRID_NO_TEXT));
    AS_TRY(as_vec_push(&at[AS_TREE_INLINED]->whole, 0));
    AS_TRY(as_vec_push(&at[AS_TREE_SELF_N]->whole, rest->self_n));
    AS_TRY(as_vec_push(&at[AS_TREE_SELF_S]->real, rest->self_s));
    AS_TRY(as_vec_push(&at[AS_TREE_BLOCKED_S]->real, rest->blocked_s));
    grid->row_n++;
    return 0;
}

/* Keeps the heaviest paths. Rests below a microsecond are rounding. */
static int cut_to_heaviest(struct as_grid *grid, size_t most)
{
    const double least_s = 1e-6;
    struct rest *rest;
    int rc = 0;

    cut_rows(grid, most);
    rest = find_rests(grid);
    if (!rest)
        return AS_ERR_NOMEM;
    for (size_t i = 0; rc == 0 && i < most; i++)
        if (rest[i].self_n > 0 || rest[i].self_s > least_s || rest[i].blocked_s > least_s)
            rc = add_rest(grid, i, &rest[i]);
    as_free(rest);
    return rc;
}

/* ---- The tree ------------------------------------------------------------------------------ */

static void write_tree(struct as_json *json, const struct as_grid *grid)
{
    as_json_object_begin(json);
    as_json_key_u64(json, "row_n", grid->row_n);
    for (size_t i = AS_TREE_PARENT; i < AS_TREE_WRITTEN_N; i++) {
        const struct as_grid_column *column = grid->column.at[i];

        as_json_key(json, column->is.name);
        if (as_column_kind_is_text(column->is.kind))
            as_data_texts(json, column, grid->row_n);
        else
            as_data_numbers(json, column, grid->row_n);
    }
    as_json_object_end(json);
}

int as_data_calltree(struct as_document *document, struct as_error *err)
{
    const size_t most = document->path_most ? document->path_most : PATHS_MOST;
    struct as_report_view view = paths;
    struct as_grid grid;
    int rc;

    view.row_most = most + 1;
    rc = as_grid_load(&grid, document->experiment, document->run_id, &view, err);
    if (rc == 0 && number_parents(&grid) < 0)
        rc = as_error_nomem(err, "the call tree");
    if (rc == 0 && grid.row_n > most && cut_to_heaviest(&grid, most) < 0)
        rc = as_error_nomem(err, "the call tree");
    if (rc == 0 && !document->no_inline)
        rc = as_calltree_inline(document, &grid, err);
    if (rc == 0) {
        as_json_key(&document->json, "calltree");
        write_tree(&document->json, &grid);
    }
    as_grid_fini(&grid);
    return rc;
}
