/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads rows with one read-only SQL statement, one row at a time. The statement may come from a
 * user: what the allow-list (sql_allowed.c) does not contain is refused before it runs.
 */
#include <string.h>

#include "base/alloc.h"
#include "experiment/internal.h"
#include "experiment/redaction.h"
#include "experiment/sql_limits.h"

struct as_rows {
    struct as_experiment *experiment;
    sqlite3_stmt *statement;
    struct as_str *shown; /* by column: redacted texts; NULL = no redaction */
};

/* ---- Limits around calls ----------------------------------------------------------------- */

static void enter_sql(struct as_experiment *experiment)
{
    experiment->is_guarded = true;
    as_limits_enter(experiment);
}

static void leave_sql(struct as_experiment *experiment)
{
    experiment->is_guarded = false;
    as_limits_leave(experiment);
}

/* ---- SQL errors -------------------------------------------------------------------------- */

/* Converts a byte offset to a line and a character (UTF-8), both from 1. */
static void place_of_column(const char *sql, int offset, int *line, int *character)
{
    *line = *character = 1;
    for (int i = 0; i < offset && sql[i]; i++) {
        if (sql[i] == '\n') {
            ++*line;
            *character = 1;
        } else if (((unsigned char)sql[i + 1] & 0xc0) != 0x80) {
            ++*character;
        }
    }
}

static int no_reading(struct as_error *err)
{
    return as_error_set(err, AS_ERR_USAGE,
                        "SQL: changes the experiment or reaches beyond it; write a SELECT");
}

static int wrong_sql(struct as_experiment *experiment, const char *sql, int code,
                     struct as_error *err)
{
    const char *why = sqlite3_errmsg(experiment->db);
    const int offset = sqlite3_error_offset(experiment->db);
    int line, character;

    AS_TRY(as_limits_failure(experiment, code, err));
    if (code == SQLITE_AUTH || code == SQLITE_READONLY)
        return no_reading(err);
    if ((code & 0xff) != SQLITE_ERROR)
        return as_sql_failure(experiment->db_path, experiment->db, code, "reading it", err);
    if (strstr(why, "not authorized to use function"))
        return as_error_set(err, AS_ERR_USAGE,
                            "SQL: %s; use only the functions that doc/manual/query.md lists", why);
    if (offset < 0)
        return as_error_set(err, AS_ERR_USAGE,
                            "SQL: %s; 'SELECT name FROM sqlite_schema' lists tables and views",
                            why);
    place_of_column(sql, offset, &line, &character);
    return as_error_set(err, AS_ERR_USAGE,
                        "SQL: %s, at line %d, character %d: '%.40s'; 'SELECT name FROM "
                        "sqlite_schema' lists tables and views",
                        why, line, character, sql + offset);
}

/* Returns true if `tail` has another statement: more than blanks, semicolons and comments. */
static bool has_more(struct as_experiment *experiment, const char *tail)
{
    while (*tail) {
        sqlite3_stmt *statement = NULL;
        const char *rest = NULL;
        const int code = sqlite3_prepare_v2(experiment->db, tail, -1, &statement, &rest);

        sqlite3_finalize(statement);
        if (code != SQLITE_OK || statement)
            return true;
        if (!rest || rest == tail)
            return false;
        tail = rest;
    }
    return false;
}

/* Allocates the redacted texts, if redaction is on. */
static int prepare_shown(struct as_rows *rows, struct as_error *err)
{
    const int n = sqlite3_column_count(rows->statement);

    if (!rows->experiment->redaction || n == 0)
        return 0;
    rows->shown = as_calloc((size_t)n, sizeof *rows->shown);
    return rows->shown ? 0 : as_error_nomem(err, rows->experiment->db_path);
}

int as_rows_open(struct as_experiment *experiment, const char *sql, struct as_rows **out,
                 struct as_error *err)
{
    struct as_rows *rows = as_calloc(1, sizeof *rows);
    const char *tail = "";
    int code, rc = 0;

    *out = NULL;
    if (!rows)
        return as_error_nomem(err, experiment->db_path);
    rows->experiment = experiment;
    enter_sql(experiment);
    code = sqlite3_prepare_v2(experiment->db, sql, -1, &rows->statement, &tail);
    if (code != SQLITE_OK)
        rc = wrong_sql(experiment, sql, code, err);
    else if (!rows->statement)
        rc = as_error_set(err, AS_ERR_USAGE, "SQL: is empty; write a SELECT");
    else if (!sqlite3_stmt_readonly(rows->statement))
        rc = no_reading(err);
    else if (has_more(experiment, tail))
        rc = as_error_set(err, AS_ERR_USAGE, "SQL: more than one statement; use one at a time");
    leave_sql(experiment);
    if (rc == 0)
        rc = prepare_shown(rows, err);
    if (rc < 0)
        as_rows_close(&rows);
    *out = rows;
    return rc;
}

void as_rows_close(struct as_rows **rows)
{
    if (!*rows)
        return;
    for (int i = 0; (*rows)->shown && i < as_rows_column_n(*rows); i++)
        as_str_fini(&(*rows)->shown[i]);
    as_free((*rows)->shown);
    sqlite3_finalize((*rows)->statement);
    as_free(*rows);
    *rows = NULL;
}

void as_rows_bind_integer(struct as_rows *rows, int parameter, int64_t value)
{
    sqlite3_bind_int64(rows->statement, parameter, value);
}

void as_rows_bind_text(struct as_rows *rows, int parameter, const char *text)
{
    sqlite3_bind_text(rows->statement, parameter, text, -1, SQLITE_TRANSIENT);
}

int as_rows_next(struct as_rows *rows, struct as_error *err)
{
    struct as_experiment *experiment = rows->experiment;
    int code;

    enter_sql(experiment);
    code = sqlite3_step(rows->statement);
    leave_sql(experiment);
    if (code == SQLITE_ROW)
        return 1;
    if (code == SQLITE_DONE)
        return 0;
    AS_TRY(as_limits_failure(experiment, code, err));
    if ((code & 0xff) == SQLITE_ERROR)
        /* A statement of the user, or a statement of assay over values that no writer stores. */
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: query failed: %s; fix the SQL, or restore a backup if assay "
                            "issued it",
                            experiment->path, sqlite3_errmsg(experiment->db));
    return as_sql_failure(experiment->db_path, experiment->db, code, "reading it", err);
}

int as_rows_each(struct as_experiment *experiment, const char *sql, int64_t number,
                 int (*take)(void *context, struct as_rows *row, struct as_error *err),
                 void *context, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(experiment, sql, &rows, err));
    as_rows_bind_integer(rows, 1, number);
    while ((rc = as_rows_next(rows, err)) > 0 && (rc = take(context, rows, err)) == 0)
        ;
    as_rows_close(&rows);
    return rc;
}

/* ---- Columns and cells ------------------------------------------------------------------- */

int as_rows_column_n(const struct as_rows *rows)
{
    return sqlite3_column_count(rows->statement);
}

const char *as_rows_column(const struct as_rows *rows, int column)
{
    return sqlite3_column_name(rows->statement, column);
}

enum as_sql_cell_kind as_rows_kind(struct as_rows *rows, int column)
{
    switch (sqlite3_column_type(rows->statement, column)) {
    case SQLITE_INTEGER:
        return AS_SQL_CELL_INTEGER;
    case SQLITE_FLOAT:
        return AS_SQL_CELL_REAL;
    case SQLITE_TEXT:
        return AS_SQL_CELL_TEXT;
    case SQLITE_BLOB:
        return AS_SQL_CELL_BLOB;
    default:
        return AS_SQL_CELL_NULL;
    }
}

int64_t as_rows_integer(struct as_rows *rows, int column)
{
    return sqlite3_column_int64(rows->statement, column);
}

double as_rows_real(struct as_rows *rows, int column)
{
    return sqlite3_column_double(rows->statement, column);
}

const char *as_rows_stored_text(struct as_rows *rows, int column)
{
    return (const char *)sqlite3_column_text(rows->statement, column);
}

const char *as_rows_text(struct as_rows *rows, int column)
{
    const char *text = as_rows_stored_text(rows, column);

    if (!rows->shown || !text)
        return text;
    as_str_clear(&rows->shown[column]);
    as_redaction_append(rows->experiment->redaction, text, &rows->shown[column]);
    /* Without memory, show nothing rather than a name. */
    return rows->shown[column].failed ? "" : as_str_z(&rows->shown[column]);
}

const void *as_rows_blob(struct as_rows *rows, int column, size_t *size_b)
{
    const void *p = sqlite3_column_blob(rows->statement, column);

    *size_b = (size_t)sqlite3_column_bytes(rows->statement, column);
    return p;
}
