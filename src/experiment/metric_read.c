/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the values of one metric. Single values are in the table `value`; values of a set are in a
 * column of its table.
 */
#include "base/str.h"
#include "experiment/internal.h"

static const char single_sql[] =
    "SELECT object_id, value, low, high, n, origin, run_id FROM value"
    " WHERE metric_id = ?1 AND object_kind = ?2 AND run_id IN (0, ?3) AND context_id = ?4";

static const char sets_sql[] =
    "SELECT s.name, m.name, c.digits, c.bounded, c.origin"
    " FROM metric_set_column c JOIN metric_set s USING (metric_set_id)"
    " JOIN metric m USING (metric_id) WHERE c.metric_id = ?1 AND s.object_kind = ?2";

static void emit_bound(struct as_str *sql, const char *column, const char *suffix, int64_t digits,
                       const char *unknown)
{
    as_str_appendf(sql, ", ifnull(%s%s / 1e%lld, %s)", column, suffix, (long long)digits, unknown);
}

/* Appends the statement for a row of `sets_sql`. Its names and words are untrusted. */
static int emit_set(struct as_str *sql, struct as_rows *rows)
{
    const char *set = as_rows_text(rows, 0), *column = as_rows_text(rows, 1);
    const int64_t digits = as_rows_integer(rows, 2);
    const bool bounded = as_rows_integer(rows, 3) != 0;
    const char *origin = as_rows_text(rows, 4);

    if (!as_metric_set_is_name(set) || !as_metric_set_is_name(column) ||
        !as_metric_set_is_name(origin))
        return AS_ERR_CORRUPT;
    as_str_appendf(sql, " UNION ALL SELECT object_id, %s / 1e%lld", column, (long long)digits);
    emit_bound(sql, column, bounded ? "_low" : "", digits, "-9e999");
    emit_bound(sql, column, bounded ? "_high" : "", digits, "9e999");
    as_str_appendf(sql,
                   ", n, '%s', run_id FROM set_%s"
                   " WHERE run_id IN (0, ?3) AND context_id = ?4 AND %s IS NOT NULL",
                   origin, set, column);
    return 0;
}

static int write_sets(struct as_experiment *experiment, int64_t metric_id,
                      const struct as_subject *of, struct as_str *sql, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(experiment, sets_sql, &rows, err));
    as_rows_bind_integer(rows, 1, metric_id);
    as_rows_bind_text(rows, 2, as_object_word(of->kind));
    while ((rc = as_rows_next(rows, err)) > 0)
        if (emit_set(sql, rows) < 0) {
            rc = as_error_set(err, AS_ERR_CORRUPT,
                              "%s: damaged: a set of metrics has an invalid name; restore a backup",
                              experiment->db_path);
            break;
        }
    as_rows_close(&rows);
    return rc;
}

int as_experiment_values(struct as_experiment *experiment, int64_t metric_id,
                         const struct as_subject *of, struct as_rows **out, struct as_error *err)
{
    struct as_str sql = {0};
    int rc;

    *out = NULL;
    as_str_appendz(&sql, single_sql);
    rc = write_sets(experiment, metric_id, of, &sql, err);
    as_str_appendz(&sql, " ORDER BY 1, 7");
    if (rc == 0)
        rc = sql.failed ? as_error_nomem(err, experiment->db_path)
                        : as_rows_open(experiment, as_str_z(&sql), out, err);
    as_str_fini(&sql);
    if (rc < 0)
        return rc;
    as_rows_bind_integer(*out, 1, metric_id);
    as_rows_bind_text(*out, 2, as_object_word(of->kind));
    as_rows_bind_integer(*out, 3, of->run_id);
    as_rows_bind_integer(*out, 4, of->context_id);
    return 0;
}
