/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metric sets: values of an analysis for all objects of a kind, one column per metric. A number is
 * stored as an integer in units of 10^-digits, which takes as few bytes as possible. Tables of
 * single values take 69 bytes per value; a set takes 3 to 15. The view v_set_NAME returns the
 * numbers, and v_values lists them with all others.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "experiment/internal.h"
#include "experiment/schema.h"

#define METRIC_MOST 600 /* SQLite allows 2000 columns; a metric has three */
#define DIGITS_MOST 9

struct set_column {
    enum as_origin origin;
    double unit; /* integers per 1: 10^digits */
    bool bounded;
};

struct as_metric_set {
    struct as_experiment *experiment;
    sqlite3_stmt *add;
    struct set_column *column;
    size_t column_n;
    enum as_object_kind kind;
};

/* ---- Table --------------------------------------------------------------------------------- */

bool as_metric_set_is_name(const char *text)
{
    if (!text || !islower((unsigned char)text[0]))
        return false;
    for (; *text; text++)
        if (!islower((unsigned char)*text) && !isdigit((unsigned char)*text) && *text != '_')
            return false;
    return true;
}

static int check_set(const char *name, const struct as_set_metric *metric, size_t n,
                     struct as_error *err)
{
    if (n > METRIC_MOST)
        return as_error_set(err, AS_ERR_LIMIT, "set %s: has %zu metrics, more than %d; divide it",
                            name, n, METRIC_MOST);
    if (!as_metric_set_is_name(name))
        return as_error_set(err, AS_ERR_INTERNAL,
                            "set %s: the name is not valid; use lower-case letters, digits and _",
                            name);
    for (size_t i = 0; i < n; i++)
        if (!as_metric_set_is_name(metric[i].metric.name) || metric[i].digits < 0 ||
            metric[i].digits > DIGITS_MOST || !as_origin_word((int)metric[i].origin))
            return as_error_set(err, AS_ERR_INTERNAL,
                                "set %s: metric %s has a bad name, number of digits or origin",
                                name, metric[i].metric.name);
    return 0;
}

/* Appends the statement that makes the table of a set. Equal statements mean equal metrics and
 * digits. */
static void append_set_table(struct as_str *sql, const char *name,
                             const struct as_set_metric *metric, size_t n)
{
    as_str_appendf(sql,
                   "CREATE TABLE set_%s (object_id INTEGER NOT NULL, run_id INTEGER NOT NULL,"
                   " context_id INTEGER NOT NULL, n INTEGER NOT NULL",
                   name);
    for (size_t i = 0; i < n; i++) {
        const char *column = metric[i].metric.name;

        as_str_appendf(sql, ", %s INTEGER /* 1e-%d */", column, metric[i].digits);
        if (metric[i].bounded)
            as_str_appendf(sql, ", %s_low INTEGER, %s_high INTEGER", column, column);
    }
    as_str_appendz(sql, ") STRICT");
}

static void append_set_view(struct as_str *sql, const char *name, enum as_object_kind kind,
                            const struct as_set_metric *metric, size_t n)
{
    as_str_appendf(sql,
                   "CREATE VIEW v_set_%s AS SELECT s.run_id, s.object_id AS %s_id, s.context_id,"
                   " c.path, c.variant, c.bucket, c.machine, c.model, c.thread_n, c.memory_level,"
                   " s.n",
                   name, as_object_word(kind));
    for (size_t i = 0; i < n; i++) {
        const char *column = metric[i].metric.name;

        as_str_appendf(sql, ", s.%s / 1e%d AS %s", column, metric[i].digits, column);
        if (metric[i].bounded)
            as_str_appendf(sql, ", s.%s_low / 1e%d AS %s_low, s.%s_high / 1e%d AS %s_high", column,
                           metric[i].digits, column, column, metric[i].digits, column);
    }
    as_str_appendf(sql, " FROM set_%s s LEFT JOIN context c USING (context_id)", name);
}

/* ---- v_values ------------------------------------------------------------------------------ */

/* Returns true if the column of a row is a valid name; the database is untrusted. */
static bool is_name_at(sqlite3_stmt *s, int column)
{
    return as_metric_set_is_name((const char *)sqlite3_column_text(s, column));
}

/* Appends "CASE c.number WHEN 0 THEN s.a WHEN 1 THEN s.b / 1e3 END", with a WHEN for each
 * column. Returns a result code of SQLite. */
static int write_case(struct as_str *sql, sqlite3_stmt *columns, const char *suffix)
{
    int code;

    as_str_appendz(sql, "CASE c.number");
    while ((code = sqlite3_step(columns)) == SQLITE_ROW) {
        const bool bounded = sqlite3_column_int(columns, 3) != 0;

        if (!is_name_at(columns, 1))
            return SQLITE_CORRUPT;
        as_str_appendf(sql, " WHEN %d THEN s.%s%s / 1e%d", sqlite3_column_int(columns, 0),
                       (const char *)sqlite3_column_text(columns, 1), bounded ? suffix : "",
                       sqlite3_column_int(columns, 2));
    }
    as_str_appendz(sql, " END");
    sqlite3_reset(columns);
    return code;
}

static int write_values_of(struct as_str *sql, sqlite3_stmt *sets, sqlite3_stmt *columns)
{
    const int64_t id = sqlite3_column_int64(sets, 0);
    int code;

    if (!is_name_at(sets, 1) || !is_name_at(sets, 2))
        return SQLITE_CORRUPT;
    sqlite3_bind_int64(columns, 1, id);
    as_str_appendf(sql, " UNION ALL SELECT * FROM (SELECT s.run_id, '%s', s.object_id, m.name, ",
                   (const char *)sqlite3_column_text(sets, 2));
    code = write_case(sql, columns, "");
    as_str_appendz(sql, " AS value, m.unit, c.origin, ifnull(");
    if (code == SQLITE_DONE)
        code = write_case(sql, columns, "_low");
    as_str_appendz(sql, ", -9e999), ifnull(");
    if (code == SQLITE_DONE)
        code = write_case(sql, columns, "_high");
    as_str_appendf(sql,
                   ", 9e999), s.n, s.context_id, m.better, m.meaning FROM metric_set_column c"
                   " JOIN metric m USING (metric_id) JOIN set_%s s WHERE c.metric_set_id = %lld)"
                   " WHERE value IS NOT NULL",
                   (const char *)sqlite3_column_text(sets, 1), (long long)id);
    return code;
}

static int append_set_values(struct as_experiment *experiment, struct as_str *sql)
{
    sqlite3_stmt *sets = NULL, *columns = NULL;
    int code = sqlite3_prepare_v2(experiment->db,
                                  "SELECT metric_set_id, name, object_kind FROM metric_set"
                                  " ORDER BY metric_set_id",
                                  -1, &sets, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(experiment->db,
                                  "SELECT number, name, digits, bounded FROM metric_set_column"
                                  " JOIN metric USING (metric_id) WHERE metric_set_id = ?1"
                                  " ORDER BY number",
                                  -1, &columns, NULL);
    as_str_appendf(sql, "CREATE VIEW v_values AS %s", as_schema_values);
    if (code == SQLITE_OK)
        code = SQLITE_DONE;
    while (code == SQLITE_DONE && (code = sqlite3_step(sets)) == SQLITE_ROW)
        code = write_values_of(sql, sets, columns);
    sqlite3_finalize(columns);
    sqlite3_finalize(sets);
    return code;
}

int as_metric_set_values(struct as_experiment *experiment, struct as_str *sql)
{
    return append_set_values(experiment, sql) == SQLITE_DONE && !sql->failed ? 0 : AS_ERR_CORRUPT;
}

/* ---- Opening ------------------------------------------------------------------------------- */

/* Sets `is` if a table or view was made by this exact statement, which SQLite keeps. */
static int is_made(struct as_experiment *experiment, const char *statement, bool *is,
                   struct as_error *err)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(
        experiment->db, "SELECT count(*) FROM sqlite_schema WHERE sql = ?1", -1, &s, NULL);

    sqlite3_bind_text(s, 1, statement, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(s);
    *is = code == SQLITE_ROW && sqlite3_column_int(s, 0) > 0;
    sqlite3_finalize(s);
    return code == SQLITE_ROW
               ? 0
               : as_sql_failure(experiment->db_path, experiment->db, code, "reading it", err);
}

static int make_table(struct as_experiment *experiment, const char *name, enum as_object_kind kind,
                      const struct as_set_metric *metric, size_t n, const char *table,
                      struct as_error *err)
{
    struct as_str sql = {0};
    int rc;

    as_str_appendf(&sql, "DROP VIEW IF EXISTS v_set_%s; DROP TABLE IF EXISTS set_%s; %s;", name,
                   name, table);
    as_str_appendf(&sql,
                   "CREATE UNIQUE INDEX set_%s_key ON set_%s (object_id, run_id, context_id);",
                   name, name);
    append_set_view(&sql, name, kind, metric, n);
    rc = sql.failed ? as_error_nomem(err, experiment->db_path)
                    : as_sql_run(experiment, as_str_z(&sql), "making a set of metrics", err);
    as_str_fini(&sql);
    return rc;
}

/* Makes the view of all values again if the columns of a set have changed. Each change of the
 * schema makes SQLite prepare all statements again. */
static int remake_values(struct as_experiment *experiment, struct as_error *err)
{
    static const char drop[] = "DROP VIEW v_values; ";
    struct as_str sql = {0};
    bool made = false;
    int rc, code;

    as_str_appendz(&sql, drop);
    code = append_set_values(experiment, &sql);
    if (code != SQLITE_DONE)
        rc = as_sql_failure(experiment->db_path, experiment->db, code, "reading its sets", err);
    else if (sql.failed)
        rc = as_error_nomem(err, experiment->db_path);
    else
        rc = is_made(experiment, as_str_z(&sql) + sizeof drop - 1, &made, err);
    if (rc == 0 && !made)
        rc = as_sql_run(experiment, as_str_z(&sql), "making the view of values", err);
    as_str_fini(&sql);
    return rc;
}

/* Deletes columns that an earlier version of the set had. */
static int forget_columns(struct as_experiment *experiment, int64_t id, size_t n,
                          struct as_error *err)
{
    char sql[128];

    sqlite3_snprintf(sizeof sql, sql,
                     "DELETE FROM metric_set_column WHERE metric_set_id = %lld AND number >= %lld",
                     (long long)id, (long long)n);
    return as_sql_run(experiment, sql, "making a set of metrics", err);
}

static int describe_set(struct as_experiment *experiment, const char *name,
                        enum as_object_kind kind, const char *pass,
                        const struct as_set_metric *metric, size_t n, struct as_error *err)
{
    const struct as_row_metric_set set = {
        .name = name, .object_kind = kind, .pass = as_pass_name(experiment, pass)};
    int64_t id;

    AS_TRY(as_row_add(experiment, AS_TABLE_metric_set, &set, &id, err));
    AS_TRY(forget_columns(experiment, id, n, err));
    for (size_t i = 0; i < n; i++) {
        struct as_row_metric_set_column row = {
            .metric_set_id = id,
            .number = (int64_t)i,
            .origin = metric[i].origin,
            .digits = metric[i].digits,
            .bounded = metric[i].bounded,
        };

        AS_TRY(as_experiment_metric(experiment, &metric[i].metric, &row.metric_id, err));
        AS_TRY(as_row_add(experiment, AS_TABLE_metric_set_column, &row, NULL, err));
    }
    return remake_values(experiment, err);
}

static int make_set(struct as_experiment *experiment, const char *name, enum as_object_kind kind,
                    const char *pass, const struct as_set_metric *metric, size_t n,
                    struct as_error *err)
{
    struct as_str table = {0};
    bool made = false;
    int rc;

    append_set_table(&table, name, metric, n);
    rc = table.failed ? as_error_nomem(err, experiment->db_path)
                      : is_made(experiment, as_str_z(&table), &made, err);
    if (rc == 0 && !made)
        rc = make_table(experiment, name, kind, metric, n, as_str_z(&table), err);
    if (rc == 0)
        rc = describe_set(experiment, name, kind, pass, metric, n, err);
    as_str_fini(&table);
    return rc;
}

static int prepare_add(struct as_metric_set *set, const char *name, struct as_error *err)
{
    struct as_str sql = {0};
    size_t n = 4;
    int rc;

    for (size_t i = 0; i < set->column_n; i++)
        n += set->column[i].bounded ? 3 : 1;
    as_str_appendf(&sql, "INSERT OR REPLACE INTO set_%s VALUES (", name);
    for (size_t i = 0; i < n; i++)
        as_str_appendz(&sql, i ? ", ?" : "?");
    as_str_appendz(&sql, ")");
    rc = sql.failed ? as_error_nomem(err, name)
                    : as_sql_prepare(set->experiment, as_str_z(&sql), &set->add, err);
    as_str_fini(&sql);
    return rc;
}

int as_metric_set_open(struct as_experiment *experiment, const char *name, enum as_object_kind kind,
                       const char *pass, const struct as_set_metric *metric, size_t metric_n,
                       struct as_metric_set **out, struct as_error *err)
{
    struct as_metric_set *set;
    int rc;

    *out = NULL;
    AS_TRY(as_batch_check(experiment, err));
    AS_TRY(check_set(name, metric, metric_n, err));
    AS_TRY(make_set(experiment, name, kind, pass, metric, metric_n, err));
    set = as_calloc(1, sizeof *set);
    if (set)
        set->column = as_calloc(metric_n + 1, sizeof *set->column);
    if (!set || !set->column) {
        as_free(set);
        return as_error_nomem(err, name);
    }
    set->experiment = experiment;
    set->kind = kind;
    set->column_n = metric_n;
    for (size_t i = 0; i < metric_n; i++)
        set->column[i] = (struct set_column){.origin = metric[i].origin,
                                             .unit = pow(10, metric[i].digits),
                                             .bounded = metric[i].bounded};
    rc = prepare_add(set, name, err);
    if (rc < 0)
        as_metric_set_close(&set);
    *out = set;
    return rc;
}

void as_metric_set_close(struct as_metric_set **set)
{
    if (*set) {
        sqlite3_finalize((*set)->add);
        as_free((*set)->column);
        as_free(*set);
    }
    *set = NULL;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static int check_value(const struct set_column *column, const struct as_bounded_value *it,
                       size_t number, struct as_error *err)
{
    AS_TRY(as_quantity_check(it, "a metric of a set", err));
    if (it->origin != (int)column->origin)
        return as_error_set(err, AS_ERR_INTERNAL, "metric %zu of a set: is of another origin",
                            number);
    if (!column->bounded && (it->low < it->value || it->value < it->high))
        return as_error_set(err, AS_ERR_INTERNAL,
                            "metric %zu of a set: has bounds, where all values have none", number);
    if (fabs(it->value) * column->unit > 9e18)
        return as_error_set(err, AS_ERR_INTERNAL, "metric %zu of a set: %g is too large", number,
                            it->value);
    return 0;
}

/* Binds a bound, or NULL if it is unknown. */
static void bind_bound(sqlite3_stmt *s, int at, double bound)
{
    if (fabs(bound) < 9e18)
        sqlite3_bind_int64(s, at, (int64_t)bound);
    else
        sqlite3_bind_null(s, at);
}

static int bind_value(sqlite3_stmt *s, int at, const struct set_column *column,
                      const struct as_bounded_value *it)
{
    const bool known = it->origin != 0;
    const double value = round(it->value * column->unit);

    if (known)
        sqlite3_bind_int64(s, at, (int64_t)value);
    else
        sqlite3_bind_null(s, at);
    if (!column->bounded)
        return at + 1;
    bind_bound(s, at + 1, known ? fmin(value, floor(it->low * column->unit)) : -INFINITY);
    bind_bound(s, at + 2, known ? fmax(value, ceil(it->high * column->unit)) : INFINITY);
    return at + 3;
}

int as_metric_set_add(struct as_metric_set *set, const struct as_subject *subject, int64_t n,
                      const struct as_bounded_value *value, struct as_error *err)
{
    int at = 5;

    AS_TRY(as_batch_check(set->experiment, err));
    if (subject->kind != set->kind)
        return as_error_set(err, AS_ERR_INTERNAL, "a set of metrics: is of another kind");
    sqlite3_bind_int64(set->add, 1, subject->object_id);
    sqlite3_bind_int64(set->add, 2, subject->run_id);
    sqlite3_bind_int64(set->add, 3, subject->context_id);
    sqlite3_bind_int64(set->add, 4, n);
    for (size_t i = 0; i < set->column_n; i++) {
        if (value[i].origin)
            AS_TRY(check_value(&set->column[i], &value[i], i, err));
        at = bind_value(set->add, at, &set->column[i], &value[i]);
    }
    return as_sql_insert(set->experiment, set->add, "writing a row of a set of metrics", NULL, err);
}

/* ---- Deletion ------------------------------------------------------------------------------ */

int as_metric_set_forget(struct as_experiment *experiment, const struct as_subject *of,
                         const char *pass, struct as_error *err)
{
    struct as_str sql = {0};
    sqlite3_stmt *sets = NULL;
    int rc, code = sqlite3_prepare_v2(experiment->db,
                                      "SELECT name FROM metric_set WHERE pass = ?1"
                                      " AND (?2 IS NULL OR object_kind = ?2)",
                                      -1, &sets, NULL);

    sqlite3_bind_text(sets, 1, pass, -1, SQLITE_STATIC);
    if (of->object_id)
        sqlite3_bind_text(sets, 2, as_object_word(of->kind), -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        while ((code = sqlite3_step(sets)) == SQLITE_ROW && is_name_at(sets, 0)) {
            as_str_appendf(&sql, "DELETE FROM set_%s WHERE run_id = %lld",
                           (const char *)sqlite3_column_text(sets, 0), (long long)of->run_id);
            if (of->object_id)
                as_str_appendf(&sql, " AND object_id = %lld", (long long)of->object_id);
            as_str_appendz(&sql, ";");
        }
    sqlite3_finalize(sets);
    if (code != SQLITE_DONE)
        rc = as_sql_failure(experiment->db_path, experiment->db, code, "reading its sets", err);
    else
        rc = as_sql_run(experiment, as_str_z(&sql), "taking what was said earlier away", err);
    as_str_fini(&sql);
    return rc;
}
