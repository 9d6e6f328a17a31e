/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of the report data: call paths of the run as a prefix tree in columns, parents
 * before children.
 */
#include "report/data.h"

#include "base/error.h"

/* clang-format off */
static const struct as_report_column columns[] = {
    {.name = "id", .sql = "callpath_id", .kind = AS_COLUMN_ID},
    {.name = "parent", .sql = "parent_id", .kind = AS_COLUMN_ID},
    {.name = "function", .sql = "function", .kind = AS_COLUMN_CODE},
    {.name = "function_id", .sql = "function_id", .kind = AS_COLUMN_ID},
    {.name = "module", .sql = "module", .kind = AS_COLUMN_TEXT},
    {.name = "category", .sql = "category", .kind = AS_COLUMN_TEXT},
    {.name = "site", .sql = "replace(path, rtrim(path, replace(path, '/', '')), '') || ':' || line",
     .kind = AS_COLUMN_TEXT},
    {.name = "self_n", .sql = "exclusive_n", .kind = AS_COLUMN_INTEGER},
    {.name = "self_s", .sql = "exclusive_ns / 1e9", .kind = AS_COLUMN_NUMBER},
    {.name = "blocked_s", .sql = "blocked_ns / 1e9", .kind = AS_COLUMN_NUMBER},
};
/* clang-format on */

static const struct as_report_view paths = {
    .name = "calltree",
    .from = "(SELECT t.run_id, t.exclusive_n, t.exclusive_ns, t.blocked_ns, p.callpath_id,"
            " p.parent_id, p.depth, p.function_id, f.name AS function, m.name AS module,"
            " c.name AS category, s.path, l.number AS line"
            " FROM object_time t JOIN callpath p ON t.object_kind = 11"
            " AND p.callpath_id = t.object_id JOIN function f USING (function_id)"
            " JOIN module m USING (module_id) LEFT JOIN category c ON c.category_id = p.category_id"
            " LEFT JOIN location a ON a.location_id = p.call_location_id"
            " LEFT JOIN line l ON l.line_id = a.line_id"
            " LEFT JOIN source_file s USING (source_file_id))",
    .order = "depth, callpath_id",
    .runs = AS_RUNS_ONE,
    .column = columns,
    .column_n = sizeof columns / sizeof *columns,
};

/* Ids of parents become their rows, -1 for the outermost. */
static int number_parents(struct as_grid *grid)
{
    struct as_grid_column *id = grid->column.at[0], *parent = grid->column.at[1];
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

static void write_tree(struct as_json *json, const struct as_grid *grid)
{
    as_json_object_begin(json);
    as_json_key_u64(json, "row_n", grid->row_n);
    for (size_t i = 1; i < grid->column.n; i++) {
        const struct as_grid_column *column = grid->column.at[i];

        as_json_key(json, column->is.name);
        if (as_column_kind_is_text(column->is.kind))
            as_data_texts(json, column, grid->row_n);
        else
            as_data_numbers(json, column, grid->row_n);
    }
    as_json_object_end(json);
}

int as_data_calltree(struct as_document *document, struct assay_error *err)
{
    struct as_grid grid;
    int rc = as_grid_load(&grid, document->experiment, document->run_id, &paths, err);

    if (rc == 0 && number_parents(&grid) < 0)
        rc = as_error_nomem(err, "the call tree");
    if (rc == 0) {
        as_json_key(&document->json, "calltree");
        write_tree(&document->json, &grid);
    }
    as_grid_fini(&grid);
    return rc;
}
