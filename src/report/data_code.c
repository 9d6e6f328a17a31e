/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources and disassembly of the report data, as far as the experiment has them. Excerpts are runs
 * of consecutive lines. Instructions are grouped by function, the hottest first.
 */
#include "report/data.h"

#include <string.h>

#include "base/error.h"

/* Columns by index. */
enum line_column {
    LINE_ID,
    LINE_FILE,
    LINE_PATH,
    LINE_LANGUAGE,
    LINE_NUMBER,
    LINE_TEXT,
    LINE_TIME,
    LINE_N
};
/* clang-format off */
static const struct as_report_column line_columns[] = {
    [LINE_ID] = {.name = "id", .sql = "line_id", .kind = AS_COLUMN_ID},
    [LINE_FILE] = {.name = "file", .sql = "source_file_id", .kind = AS_COLUMN_ID},
    [LINE_PATH] = {.name = "path", .sql = "path", .kind = AS_COLUMN_TEXT},
    [LINE_LANGUAGE] = {.name = "language", .sql = "language", .kind = AS_COLUMN_TEXT},
    [LINE_NUMBER] = {.name = "number", .sql = "number", .kind = AS_COLUMN_ID},
    [LINE_TEXT] = {.name = "text", .sql = "text", .kind = AS_COLUMN_CODE},
    [LINE_TIME] = {.name = "time_s", .sql = "time_s", .kind = AS_COLUMN_NUMBER},
    [LINE_N] = {.name = "n", .sql = "n", .kind = AS_COLUMN_INTEGER},
};
_Static_assert(sizeof line_columns / sizeof *line_columns == LINE_N + 1, "an entry for each of the enumeration");

enum code_column { CODE_FUNCTION, CODE_NAME, CODE_MODULE, CODE_ADDRESS, CODE_TEXT, CODE_LOOP,
                   CODE_BLOCK, CODE_SOURCE, CODE_LINE, CODE_N, CODE_TIME };
static const struct as_report_column code_columns[] = {
    [CODE_FUNCTION] = {.name = "function_id", .sql = "function_id", .kind = AS_COLUMN_ID},
    [CODE_NAME] = {.name = "name", .sql = "name", .kind = AS_COLUMN_CODE},
    [CODE_MODULE] = {.name = "module", .sql = "module", .kind = AS_COLUMN_TEXT},
    [CODE_ADDRESS] = {.name = "address", .sql = "printf('0x%x', address)",
                      .kind = AS_COLUMN_ADDRESS},
    [CODE_TEXT] = {.name = "text", .sql = "text", .kind = AS_COLUMN_CODE},
    [CODE_LOOP] = {.name = "loop_id", .sql = "loop_id", .kind = AS_COLUMN_ID},
    [CODE_BLOCK] = {.name = "block_id", .sql = "block_id", .kind = AS_COLUMN_ID},
    [CODE_SOURCE] = {.name = "source", .sql = "line_id", .kind = AS_COLUMN_ID},
    [CODE_LINE] = {.name = "line", .sql = "line", .kind = AS_COLUMN_ID},
    [CODE_N] = {.name = "n", .sql = "n", .kind = AS_COLUMN_INTEGER},
    [CODE_TIME] = {.name = "time_s", .sql = "ns / 1e9", .kind = AS_COLUMN_NUMBER},
};
_Static_assert(sizeof code_columns / sizeof *code_columns == CODE_TIME + 1, "an entry for each of the enumeration");
/* clang-format on */

static const struct as_report_view line_view = {
    .name = "sources",
    .from = "(SELECT l.line_id, l.source_file_id, s.path, s.language, l.number, l.text,"
            " ifnull(t.exclusive_ns, 0) / 1e9 AS time_s, ifnull(t.exclusive_n, 0) AS n"
            " FROM line l JOIN source_file s USING (source_file_id) LEFT JOIN object_time t"
            " ON t.run_id = ?1 AND t.object_kind = 'line' AND t.object_id = l.line_id"
            " WHERE l.text IS NOT NULL)",
    .order = "path, source_file_id, number",
    .column = line_columns,
    .column_n = sizeof line_columns / sizeof *line_columns,
};

static const struct as_report_view code_view = {
    .name = "code",
    .from = "(WITH hit AS MATERIALIZED (SELECT a.module_id, a.address, sum(s.n) AS n,"
            " sum(s.time_ns) AS ns FROM process p JOIN thread x USING (process_id)"
            " JOIN sample s USING (thread_id) JOIN location a USING (location_id)"
            " WHERE p.run_id = ?1 AND s.state = 0 GROUP BY 1, 2)"
            " SELECT d.function_id, f.name, m.name AS module, d.address, d.text, d.loop_id,"
            " d.block_id, d.line_id, l.number AS line, ifnull(h.n, 0) AS n, ifnull(h.ns, 0) AS ns,"
            " t.exclusive_ns AS heat"
            " FROM disassembly d JOIN function f ON f.function_id = d.function_id"
            " JOIN module m ON m.module_id = d.module_id"
            " JOIN object_time t ON t.run_id = ?1 AND t.object_kind = 'function'"
            " AND t.object_id = d.function_id"
            " LEFT JOIN hit h ON h.module_id = d.module_id AND h.address = d.address"
            " LEFT JOIN line l ON l.line_id = d.line_id)",
    .order = "heat DESC, function_id, address",
    .column = code_columns,
    .column_n = sizeof code_columns / sizeof *code_columns,
};

/* ---- Slices ------------------------------------------------------------------------------- */

static void write_slice(struct as_json *json, const struct as_grid_column *column, size_t from,
                        size_t to)
{
    as_json_key(json, column->is.name);
    as_json_array_begin(json);
    for (size_t i = from; i < to; i++) {
        if (column->text.n)
            as_json_string(json, as_grid_text(column, i));
        else
            as_data_number(json, column, i);
    }
    as_json_array_end(json);
}

/* ---- Sources ------------------------------------------------------------------------------ */

/* Returns the end of the excerpt that begins at row `from`. */
static size_t excerpt_end(const struct as_grid *grid, size_t from)
{
    const int64_t *file = grid->column.at[LINE_FILE]->whole.at;
    const int64_t *number = grid->column.at[LINE_NUMBER]->whole.at;
    size_t to = from + 1;

    while (to < grid->row_n && file[to] == file[from] && number[to] == number[to - 1] + 1)
        to++;
    return to;
}

static int write_excerpt(struct as_json *json, const struct as_grid *grid, size_t from, size_t to,
                         uint32_t id, struct as_map_u64 *excerpt)
{
    struct as_grid_column *const *column = grid->column.at;

    as_json_object_begin(json);
    as_json_key_u64(json, "id", id);
    as_json_key_string(json, "path", as_grid_text(column[LINE_PATH], from));
    as_json_key_string(json, "language", as_grid_text(column[LINE_LANGUAGE], from));
    as_json_key_i64(json, "first", column[LINE_NUMBER]->whole.at[from]);
    as_json_key(json, "lines");
    as_json_array_begin(json);
    for (size_t i = from; i < to; i++)
        as_json_string(json, as_grid_text(column[LINE_TEXT], i));
    as_json_array_end(json);
    write_slice(json, column[LINE_TIME], from, to);
    write_slice(json, column[LINE_N], from, to);
    as_json_object_end(json);
    for (size_t i = from; i < to; i++)
        AS_TRY(as_map_u64_put(excerpt, (uint64_t)column[LINE_ID]->whole.at[i], id));
    return 0;
}

static int write_sources(struct as_document *document, struct as_map_u64 *excerpt,
                         struct as_error *err)
{
    struct as_grid grid;
    uint32_t id = 0;
    int rc = as_grid_load(&grid, document->experiment, document->run_id, &line_view, err);

    if (rc == 0) {
        as_json_key(&document->json, "sources");
        as_json_array_begin(&document->json);
        for (size_t from = 0; rc == 0 && from < grid.row_n; id++) {
            const size_t to = excerpt_end(&grid, from);

            if (write_excerpt(&document->json, &grid, from, to, id, excerpt) < 0)
                rc = as_error_nomem(err, "the sources");
            from = to;
        }
        if (rc == 0)
            as_json_array_end(&document->json);
    }
    as_grid_fini(&grid);
    return rc;
}

/* ---- Instructions ------------------------------------------------------------------------- */

static void write_function(struct as_json *json, const struct as_grid *grid, size_t from, size_t to)
{
    struct as_grid_column *const *column = grid->column.at;

    as_json_object_begin(json);
    as_json_key_i64(json, "function_id", column[CODE_FUNCTION]->whole.at[from]);
    as_json_key_string(json, "name", as_grid_text(column[CODE_NAME], from));
    as_json_key_string(json, "module", as_grid_text(column[CODE_MODULE], from));
    for (size_t i = CODE_ADDRESS; i < grid->column.n; i++)
        write_slice(json, column[i], from, to);
    as_json_object_end(json);
}

/* Replaces lines by their excerpts, or -1. */
static void find_sources(const struct as_grid *grid, const struct as_map_u64 *excerpt)
{
    struct as_grid_column *source = grid->column.at[CODE_SOURCE];

    for (size_t i = 0; i < grid->row_n; i++) {
        const int64_t line = source->whole.at[i];
        const uint32_t id =
            line == AS_GRID_NO_INTEGER ? AS_MAP_NONE : as_map_u64_get(excerpt, (uint64_t)line);

        source->whole.at[i] = id == AS_MAP_NONE ? -1 : (int64_t)id;
    }
}

static int write_code(struct as_document *document, const struct as_map_u64 *excerpt,
                      struct as_error *err)
{
    struct as_grid grid;
    const int rc = as_grid_load(&grid, document->experiment, document->run_id, &code_view, err);

    if (rc == 0) {
        const int64_t *function = grid.column.at[CODE_FUNCTION]->whole.at;

        find_sources(&grid, excerpt);
        as_json_key(&document->json, "code");
        as_json_array_begin(&document->json);
        for (size_t from = 0, to; from < grid.row_n; from = to) {
            for (to = from; to < grid.row_n && function[to] == function[from];)
                to++;
            write_function(&document->json, &grid, from, to);
        }
        as_json_array_end(&document->json);
    }
    as_grid_fini(&grid);
    return rc;
}

int as_data_code(struct as_document *document, struct as_error *err)
{
    struct as_map_u64 excerpt; /* line -> excerpt */
    int rc;

    as_map_u64_init(&excerpt);
    rc = write_sources(document, &excerpt, err);
    if (rc == 0)
        rc = write_code(document, &excerpt, err);
    as_map_u64_fini(&excerpt);
    return rc;
}
