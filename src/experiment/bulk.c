/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes many rows with one statement. The caller's structs are the rows of an SQLite virtual table
 * (https://sqlite.org/vtab.html). One statement per row with bound parameters takes three times as
 * long. Only writers have the virtual table, and it has rows only during such a statement.
 */
#include <assert.h>
#include <string.h>

#include "experiment/bulk.h"

/* Columns of the virtual table: enough for the widest struct of tables.txt. */
#define COLUMNS_SQL                                                                                \
    "CREATE TABLE x(c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19,c20,"    \
    "c21,c22,c23,c24,c25,c26,c27,c28,c29,c30,c31,c32,c33,c34,c35)"
#define COLUMNS_MOST 36

/* Writing this many rows at once may leave some hundred kilobytes of free space in the database. */
#define GROWN_ROWS 10000

/* Rows between two checks if the writer must stop. */
#define STOP_ROWS 4096

struct bulk_table {
    sqlite3_vtab base;
    struct as_experiment *experiment;
};

struct bulk_cursor {
    sqlite3_vtab_cursor base;
    struct as_experiment *experiment;
    size_t at;
};

/* ---- The virtual table ------------------------------------------------------------------- */

static int bulk_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
                        sqlite3_vtab **out, char **error)
{
    struct bulk_table *table = sqlite3_malloc(sizeof *table);
    int code = table ? sqlite3_declare_vtab(db, COLUMNS_SQL) : SQLITE_NOMEM;

    (void)argc;
    (void)argv;
    (void)error;
    if (code != SQLITE_OK) {
        sqlite3_free(table);
        return code;
    }
    *table = (struct bulk_table){.experiment = aux};
    *out = &table->base;
    return SQLITE_OK;
}

static int bulk_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int bulk_plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = 1e6;
    return SQLITE_OK;
}

static int bulk_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    struct bulk_cursor *cursor = sqlite3_malloc(sizeof *cursor);

    if (!cursor)
        return SQLITE_NOMEM;
    *cursor = (struct bulk_cursor){.experiment = ((struct bulk_table *)table)->experiment};
    *out = &cursor->base;
    return SQLITE_OK;
}

static int bulk_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int bulk_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
                       sqlite3_value **argv)
{
    (void)number;
    (void)text;
    (void)argc;
    (void)argv;
    ((struct bulk_cursor *)cursor)->at = 0;
    return SQLITE_OK;
}

static int bulk_next(sqlite3_vtab_cursor *cursor)
{
    struct bulk_cursor *it = (struct bulk_cursor *)cursor;

    it->at++;
    return it->at % STOP_ROWS == 0 && as_stop_check(it->experiment, NULL) < 0 ? SQLITE_INTERRUPT
                                                                              : SQLITE_OK;
}

static int bulk_eof(sqlite3_vtab_cursor *cursor)
{
    const struct bulk_cursor *it = (struct bulk_cursor *)cursor;

    return !it->experiment->bulk || it->at >= it->experiment->bulk->n;
}

static int bulk_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    const struct bulk_cursor *it = (struct bulk_cursor *)cursor;

    *out = it->experiment->bulk->first_id + (sqlite3_int64)it->at;
    return SQLITE_OK;
}

static int bulk_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    const struct bulk_cursor *it = (struct bulk_cursor *)cursor;
    const struct as_bulk *bulk = it->experiment->bulk;

    if ((size_t)column < bulk->column_n)
        as_row_result(context, bulk->column[column].kind,
                      (const char *)bulk->row + it->at * bulk->row_b + bulk->column[column].offset);
    return SQLITE_OK;
}

static const sqlite3_module bulk_module = {
    .xConnect = bulk_connect,
    .xDisconnect = bulk_disconnect,
    .xBestIndex = bulk_plan,
    .xOpen = bulk_open,
    .xClose = bulk_close,
    .xFilter = bulk_filter,
    .xNext = bulk_next,
    .xEof = bulk_eof,
    .xColumn = bulk_column,
    .xRowid = bulk_rowid,
};

/* ---- Filling a table --------------------------------------------------------------------- */

static void append_sql(struct as_str *sql, const struct as_bulk *bulk)
{
    as_str_appendf(sql, "INSERT INTO %s (", bulk->table);
    if (bulk->first_id)
        as_str_appendf(sql, "%s_id, ", bulk->table);
    for (size_t i = 0; i < bulk->column_n; i++)
        as_str_appendf(sql, "%s%s", i ? ", " : "", bulk->column[i].name);
    as_str_appendz(sql, bulk->first_id ? ") SELECT rowid, " : ") SELECT ");
    for (size_t i = 0; i < bulk->column_n; i++)
        as_str_appendf(sql, "%sc%zu", i ? ", " : "", i);
    as_str_appendf(sql, " FROM assay_rows WHERE true%s", bulk->conflict ? bulk->conflict : "");
}

static int prepare_bulk(struct as_experiment *experiment, const struct as_bulk *bulk,
                        sqlite3_stmt **out, struct as_error *err)
{
    struct as_str sql = {0};
    int rc;

    append_sql(&sql, bulk);
    if (sql.failed)
        rc = as_error_nomem(err, experiment->db_path);
    else if (!as_is_writer(experiment))
        /* fails with the message for a reader */
        rc = as_sql_prepare(experiment, as_str_z(&sql), out, err);
    else if (sqlite3_create_module(experiment->db, "assay_rows", &bulk_module, experiment) !=
             SQLITE_OK)
        rc = as_error_nomem(err, experiment->db_path);
    else
        rc = as_sql_prepare(experiment, as_str_z(&sql), out, err);
    as_str_fini(&sql);
    return rc;
}

int as_bulk_add(struct as_experiment *experiment, const struct as_bulk *bulk, struct as_error *err)
{
    sqlite3_stmt *statement = NULL;
    int rc;

    assert(bulk->column_n <= COLUMNS_MOST && !experiment->bulk);
    AS_TRY(as_batch_check(experiment, err));
    if (bulk->n == 0)
        return 0;
    rc = prepare_bulk(experiment, bulk, &statement, err);
    experiment->bulk = bulk;
    if (rc == 0)
        rc = as_sql_insert(experiment, statement, bulk->what, NULL, err);
    experiment->bulk = NULL;
    experiment->has_grown |= bulk->n >= GROWN_ROWS;
    sqlite3_finalize(statement);
    return rc < 0 && as_stop_check(experiment, NULL) < 0 ? as_stop_check(experiment, err) : rc;
}
