/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema's version: making it, and refusing what is newer, older or foreign. Views and columns
 * with expressions are code: a database that is to be read must have exactly those that assay
 * makes.
 */
#include "experiment/schema.h"

#include <string.h>

#include "base/str.h"
#include "experiment/internal.h"

int assay_experiment_schema(void)
{
    return as_schema_version;
}

/* ---- What assay makes -------------------------------------------------------------------- */

static const char listing_sql[] =
    "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name, type";
#define LISTING_N 4

/* A database in memory with our schema; its listing, before the first row. */
static int open_model(sqlite3 **db, sqlite3_stmt **listing)
{
    int code = sqlite3_open_v2(
        ":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_exec(*db, as_schema_sql, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(*db, listing_sql, -1, listing, NULL);
    return code;
}

static bool is_same_object(sqlite3_stmt *a, sqlite3_stmt *b)
{
    for (int i = 0; i < LISTING_N; i++) {
        const char *one = (const char *)sqlite3_column_text(a, i);
        const char *other = (const char *)sqlite3_column_text(b, i);

        if (one != other && (!one || !other || strcmp(one, other) != 0))
            return false;
    }
    return true;
}

/* v_values is made anew when there is a set of metrics; then it is what its making gives. */
static bool is_values(struct assay_experiment *experiment, sqlite3_stmt *object)
{
    const char *name = (const char *)sqlite3_column_text(object, 1);
    const char *sql = (const char *)sqlite3_column_text(object, 3);
    struct as_str made = {0};
    bool is;

    if (!name || !sql || strcmp(name, "v_values") != 0)
        return false;
    is = as_metric_set_values(experiment, &made) == 0 && strcmp(as_str_z(&made), sql) == 0;
    as_str_fini(&made);
    return is;
}

/* What users may have added for themselves, and what ANALYZE adds: nothing of ours reads it. SQLite
 * writes these words so; others (triggers, virtual and temporary tables) are code, or hide ours. */
static bool is_harmless(sqlite3_stmt *object)
{
    static const char *const begin[] = {"CREATE TABLE ", "CREATE VIEW ", "CREATE INDEX ",
                                        "CREATE UNIQUE INDEX "};
    const char *type = (const char *)sqlite3_column_text(object, 0);
    const char *sql = (const char *)sqlite3_column_text(object, 3);

    if (!sql)
        return type && strcmp(type, "index") == 0;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (strncmp(sql, begin[i], strlen(begin[i])) == 0)
            return true;
    return false;
}

static int not_ours(const struct assay_experiment *experiment, sqlite3_stmt *object,
                    struct assay_error *err)
{
    const char *name = (const char *)sqlite3_column_text(object, 1);

    return as_error_set(err, ASSAY_ERR_CORRUPT,
                        "%s: not an experiment: '%.60s' of its database is not as assay makes it; "
                        "do not trust it, and ask where it comes from for another copy",
                        experiment->path, name ? name : "?");
}

/* Walks both listings, sorted alike: each object of the model must be there, and little else. */
static int compare_schemas(struct assay_experiment *experiment, sqlite3_stmt *model,
                           sqlite3_stmt *listing, struct assay_error *err)
{
    bool is_wanted = sqlite3_step(model) == SQLITE_ROW;
    int code;

    while ((code = sqlite3_step(listing)) == SQLITE_ROW) {
        if (is_wanted && (is_same_object(model, listing) || is_values(experiment, listing)))
            is_wanted = sqlite3_step(model) == SQLITE_ROW;
        else if (!is_harmless(listing))
            return not_ours(experiment, listing, err);
    }
    if (code != SQLITE_DONE)
        return as_sql_failure(experiment->db_path, experiment->db, code, "reading it", err);
    return is_wanted ? not_ours(experiment, model, err) : 0;
}

/* Tables of sets are read by what is ours (v_values): a view or a computed column in their place
 * would be code. */
static int check_sets(struct assay_experiment *experiment, struct assay_error *err)
{
    int64_t found;

    AS_TRY(as_sql_integer(experiment,
                          "SELECT 1 FROM pragma_table_list l WHERE lower(substr(l.name, 1, 4))"
                          " = 'set_' AND (l.type <> 'table' OR EXISTS (SELECT 1 FROM"
                          " pragma_table_xinfo(l.name) WHERE hidden <> 0)) LIMIT 1",
                          &found, err));
    if (!found)
        return 0;
    return as_error_set(err, ASSAY_ERR_CORRUPT,
                        "%s: not an experiment: a set of metrics of its database is not as assay "
                        "makes it; do not trust it, and ask where it comes from for another copy",
                        experiment->path);
}

/* For each table of the model the statement that finds a row without a text that must be there. */
static const char texts_sql[] =
    "SELECT m.name, printf('SELECT 1 FROM \"%w\" WHERE %s LIMIT 1', m.name,"
    " group_concat(printf('typeof(\"%w\") <> ''text''', c.name), ' OR '))"
    " FROM sqlite_schema m JOIN pragma_table_info(m.name) c"
    " WHERE m.type = 'table' AND c.\"notnull\" AND c.type = 'TEXT' GROUP BY m.name";

/*
 * What a constraint promises is only true of what was written under it, and readers count on texts.
 * Numbers need no look: one that is missing reads as 0. The large tables have no texts.
 */
static int check_texts(struct assay_experiment *experiment, sqlite3 *model, struct assay_error *err)
{
    sqlite3_stmt *tables = NULL;
    int code = sqlite3_prepare_v2(model, texts_sql, -1, &tables, NULL), rc = 0;

    while (rc == 0 && code == SQLITE_OK && sqlite3_step(tables) == SQLITE_ROW) {
        int64_t found;

        rc = as_sql_integer(experiment, (const char *)sqlite3_column_text(tables, 1), &found, err);
        if (rc == 0 && found)
            rc = as_error_set(err, ASSAY_ERR_CORRUPT,
                              "%s: damaged: a text is missing in its table '%s'; restore a copy",
                              experiment->path, (const char *)sqlite3_column_text(tables, 0));
    }
    if (code != SQLITE_OK)
        rc = as_sql_failure("the schema", model, code, "reading it", err);
    sqlite3_finalize(tables);
    return rc;
}

static int check_objects(struct assay_experiment *experiment, struct assay_error *err)
{
    sqlite3 *model = NULL;
    sqlite3_stmt *wanted = NULL, *listing = NULL;
    int rc, code = open_model(&model, &wanted);

    if (code != SQLITE_OK) {
        rc = as_sql_failure("the schema", model, code, "making it", err);
    } else {
        code = sqlite3_prepare_v2(experiment->db, listing_sql, -1, &listing, NULL);
        rc = code == SQLITE_OK
                 ? compare_schemas(experiment, wanted, listing, err)
                 : as_sql_failure(experiment->db_path, experiment->db, code, "reading it", err);
    }
    sqlite3_finalize(listing);
    if (rc == 0)
        rc = check_sets(experiment, err);
    if (rc == 0)
        rc = check_texts(experiment, model, err);
    sqlite3_finalize(wanted);
    sqlite3_close(model);
    return rc;
}

/* ---- Versions ---------------------------------------------------------------------------- */

int as_schema_check(struct assay_experiment *experiment, struct assay_error *err)
{
    int64_t application, schema;

    AS_TRY(as_sql_integer(experiment, "PRAGMA application_id", &application, err));
    AS_TRY(as_sql_integer(experiment, "PRAGMA user_version", &schema, err));
    if (application == AS_SCHEMA_FORMER)
        return as_error_set(err, ASSAY_ERR_UNSUPPORTED,
                            "%s: was written by an older assay, from before its first release, "
                            "and cannot be read any more; record it anew",
                            experiment->path);
    if (application != AS_SCHEMA_APPLICATION || schema < 1)
        return as_error_set(err, ASSAY_ERR_CORRUPT,
                            "%s: not an experiment: a database that assay did not finish making; "
                            "name a directory that assay made",
                            experiment->db_path);
    if (schema > as_schema_version)
        return as_error_set(err, ASSAY_ERR_UNSUPPORTED,
                            "%s: was written by a newer assay: its schema is %lld and this one "
                            "knows up to %d; use a newer assay",
                            experiment->path, (long long)schema, as_schema_version);
    return check_objects(experiment, err);
}

int as_schema_make(struct assay_experiment *experiment, struct assay_error *err)
{
    static const char what[] = "making its tables";
    struct as_str end = {0};
    int rc;

    as_str_appendf(&end, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
                   AS_SCHEMA_APPLICATION, as_schema_version);
    if (end.failed)
        return as_error_nomem(err, experiment->db_path);
    rc = as_sql_run(experiment, "BEGIN IMMEDIATE", what, err);
    if (rc == 0)
        rc = as_sql_run(experiment, as_schema_sql, what, err);
    if (rc == 0)
        rc = as_sql_run(experiment, as_str_z(&end), what, err);
    if (rc < 0)
        sqlite3_exec(experiment->db, "ROLLBACK", NULL, NULL, NULL);
    as_str_fini(&end);
    return rc;
}
