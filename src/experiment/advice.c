/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks and what-ifs of a run, and forgetting them before they are made anew. Knows nothing of
 * what they mean.
 */
#include "experiment/internal.h"

int assay_experiment_check(struct assay_experiment *experiment, const struct assay_check *it,
                           struct assay_error *err)
{
    sqlite3_stmt *s;

    AS_TRY(as_batch_check(experiment, err));
    if (!(it->weight > 0) || !(it->score <= 1))
        return as_error_set(err, ASSAY_ERR_INTERNAL, "check %s: score %g or weight %g", it->name,
                            it->score, it->weight);
    AS_TRY(as_sql_prepare(experiment,
                          "INSERT OR REPLACE INTO check_result (run_id, name, title, position,"
                          " weight, score, text, advice) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                          &experiment->check, err));
    s = experiment->check;
    sqlite3_clear_bindings(s);
    sqlite3_bind_int64(s, 1, it->run_id);
    sqlite3_bind_text(s, 2, it->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, it->title, -1, SQLITE_STATIC);
    sqlite3_bind_int(s, 4, it->position);
    sqlite3_bind_double(s, 5, it->weight);
    if (it->score >= 0)
        sqlite3_bind_double(s, 6, it->score);
    sqlite3_bind_text(s, 7, it->text, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 8, it->advice, -1, SQLITE_STATIC);
    return as_sql_insert(experiment, s, "writing a check", NULL, err);
}

/* ---- What-ifs ------------------------------------------------------------------------------ */

static int add_objects(struct assay_experiment *experiment, int64_t id,
                       const struct assay_what_if *it, struct assay_error *err)
{
    AS_TRY(as_sql_prepare(experiment,
                          "INSERT INTO what_if_object (what_if_id, position, object_id, gain_s,"
                          " speedup) VALUES (?1, ?2, ?3, ?4, ?5)",
                          &experiment->what_if_object, err));
    for (size_t i = 0; i < it->object_n; i++) {
        sqlite3_stmt *s = experiment->what_if_object;

        sqlite3_bind_int64(s, 1, id);
        sqlite3_bind_int64(s, 2, (int64_t)i + 1);
        sqlite3_bind_int64(s, 3, it->object[i].id);
        sqlite3_bind_double(s, 4, it->object[i].gain_s);
        sqlite3_bind_double(s, 5, it->object[i].speedup);
        AS_TRY(as_sql_insert(experiment, s, "writing a what-if", NULL, err));
    }
    return 0;
}

int assay_experiment_what_if(struct assay_experiment *experiment, const struct assay_what_if *it,
                             struct assay_error *err)
{
    sqlite3_stmt *s;
    int64_t id;

    AS_TRY(as_batch_check(experiment, err));
    AS_TRY(as_quantity_check(&it->gain_s, it->name, err));
    AS_TRY(as_sql_prepare(experiment,
                          "INSERT OR REPLACE INTO what_if (run_id, name, title, meaning, position,"
                          " object_kind, time_s, gain_s, gain_low_s, gain_high_s, n, origin,"
                          " to_80_n) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"
                          " ?13) RETURNING what_if_id",
                          &experiment->what_if, err));
    s = experiment->what_if;
    sqlite3_clear_bindings(s);
    sqlite3_bind_int64(s, 1, it->run_id);
    sqlite3_bind_text(s, 2, it->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, it->title, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, it->meaning, -1, SQLITE_STATIC);
    sqlite3_bind_int(s, 5, it->position);
    sqlite3_bind_int64(s, 6, (int64_t)it->kind);
    sqlite3_bind_double(s, 7, it->time_s);
    sqlite3_bind_double(s, 8, it->gain_s.value);
    sqlite3_bind_double(s, 9, it->gain_s.low);
    sqlite3_bind_double(s, 10, it->gain_s.high);
    sqlite3_bind_int64(s, 11, it->gain_s.n);
    sqlite3_bind_text(s, 12, as_quantity_origin(it->gain_s.origin), -1, SQLITE_STATIC);
    if (it->to_80_n > 0)
        sqlite3_bind_int64(s, 13, it->to_80_n);
    AS_TRY(as_sql_insert(experiment, s, "writing a what-if", &id, err));
    return add_objects(experiment, id, it, err);
}

/* ---- Forgetting ---------------------------------------------------------------------------- */

static int forget(struct assay_experiment *experiment, const char *sql, int64_t run_id,
                  const char *pass, struct assay_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc;

    AS_TRY(as_sql_prepare(experiment, sql, &s, err));
    sqlite3_bind_int64(s, 1, run_id);
    if (pass)
        sqlite3_bind_text(s, 2, pass, -1, SQLITE_STATIC);
    rc = as_sql_insert(experiment, s, "taking earlier advice away", NULL, err);
    sqlite3_finalize(s);
    return rc;
}

int assay_experiment_forget(struct assay_experiment *experiment, int64_t run_id, const char *pass,
                            struct assay_error *err)
{
    AS_TRY(as_batch_check(experiment, err));
    AS_TRY(forget(experiment, "DELETE FROM finding WHERE run_id = ?1 AND pass = ?2", run_id, pass,
                  err));
    AS_TRY(forget(experiment, "DELETE FROM check_result WHERE run_id = ?1", run_id, NULL, err));
    AS_TRY(forget(experiment,
                  "DELETE FROM what_if_object WHERE what_if_id IN"
                  " (SELECT what_if_id FROM what_if WHERE run_id = ?1)",
                  run_id, NULL, err));
    return forget(experiment, "DELETE FROM what_if WHERE run_id = ?1", run_id, NULL, err);
}
