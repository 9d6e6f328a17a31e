/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the schema, and refuses databases that are newer, older or foreign. Views and computed
 * columns are code: a database must have exactly those that assay makes.
 */
#include "experiment/schema.h"

#include <string.h>

#include "base/str.h"
#include "experiment/internal.h"
#include "experiment/model.h"

int as_experiment_schema(void)
{
    return as_schema_version;
}

/* ---- Objects of assay -------------------------------------------------------------------- */

static bool is_same_object(const struct as_model_object *wanted, sqlite3_stmt *object)
{
    for (int i = 0; i < AS_MODEL_TEXTS; i++) {
        const char *one = wanted->text[i];
        const char *other = (const char *)sqlite3_column_text(object, i);

        if (one != other && (!one || !other || strcmp(one, other) != 0))
            return false;
    }
    return true;
}

/* Returns true if the object is v_values as assay makes it for the present metric sets. */
static bool is_values(struct as_experiment *experiment, sqlite3_stmt *object)
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

/* Returns true for objects that users or ANALYZE may add: assay does not read them. SQLite
 * stores these keywords in this form. Other objects (triggers, virtual and temporary tables) are
 * code, or hide those of assay. */
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

static int not_ours(const struct as_experiment *experiment, const char *what, struct as_error *err)
{
    return as_error_set(err, AS_ERR_CORRUPT,
                        "%s: not an experiment of this assay: '%.60s' of its database differs; "
                        "use the build that wrote it, or record it again. Do not trust an "
                        "experiment of unknown origin",
                        experiment->path, what ? what : "?");
}

/* Compares both listings, which have the same order. All objects of the model must be there, and
 * other objects must be harmless. Sets `has_more` if there are others. */
static int compare_schemas(struct as_experiment *experiment, const struct as_model *model,
                           sqlite3_stmt *listing, bool *has_more, struct as_error *err)
{
    size_t at = 0;
    int code;

    while ((code = sqlite3_step(listing)) == SQLITE_ROW) {
        if (at < model->object_n &&
            (is_same_object(&model->object[at], listing) || is_values(experiment, listing)))
            at++;
        else if (is_harmless(listing))
            *has_more = true;
        else
            return not_ours(experiment, (const char *)sqlite3_column_text(listing, 1), err);
    }
    if (code != SQLITE_DONE)
        return as_sql_failure(experiment->db_path, experiment->db, code, "reading it", err);
    return at < model->object_n ? not_ours(experiment, model->object[at].text[1], err) : 0;
}

/* Refuses views and computed columns in place of metric sets, because v_values reads the sets.
 * The names in sqlite_schema may lie, so pragma_table_list is used, although it reads each view. */
static int check_sets(struct as_experiment *experiment, struct as_error *err)
{
    int64_t found;

    AS_TRY(as_sql_integer(experiment,
                          "SELECT 1 FROM pragma_table_list l WHERE lower(substr(l.name, 1, 4))"
                          " = 'set_' AND (l.type <> 'table' OR EXISTS (SELECT 1 FROM"
                          " pragma_table_xinfo(l.name) WHERE hidden <> 0)) LIMIT 1",
                          &found, err));
    return found ? not_ours(experiment, "a set of metrics", err) : 0;
}

/*
 * Refuses missing texts. A constraint holds only for rows that were written under it, and readers
 * rely on texts. A missing number reads as 0, so numbers are not checked. The large tables have no
 * texts.
 */
static int check_texts(struct as_experiment *experiment, const struct as_model *model,
                       struct as_error *err)
{
    for (size_t i = 0; i < model->check_n; i++) {
        const struct as_model_check *check = &model->check[i];
        int64_t found;

        AS_TRY(as_sql_integer(experiment, check->sql, &found, err));
        if (found)
            return as_error_set(err, AS_ERR_CORRUPT,
                                "%s: damaged: a text is missing in table '%s'; restore a backup",
                                experiment->path, check->table);
    }
    return 0;
}

static int check_objects(struct as_experiment *experiment, struct as_error *err)
{
    const struct as_model *model;
    sqlite3_stmt *listing = NULL;
    bool has_more = false;

    AS_TRY(as_model_get(&model, err));
    const int code = sqlite3_prepare_v2(experiment->db, as_model_listing_sql, -1, &listing, NULL);
    int rc = code == SQLITE_OK
                 ? compare_schemas(experiment, model, listing, &has_more, err)
                 : as_sql_failure(experiment->db_path, experiment->db, code, "reading it", err);

    sqlite3_finalize(listing);
    if (rc == 0 && has_more)
        rc = check_sets(experiment, err);
    return rc < 0 ? rc : check_texts(experiment, model, err);
}

/* ---- Versions ---------------------------------------------------------------------------- */

int as_schema_check(struct as_experiment *experiment, struct as_error *err)
{
    int64_t application, schema;

    AS_TRY(as_sql_integer(experiment, "PRAGMA application_id", &application, err));
    AS_TRY(as_sql_integer(experiment, "PRAGMA user_version", &schema, err));
    if (application == AS_SCHEMA_FORMER)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: written by an assay before the first release, which is no longer "
                            "supported; record it again",
                            experiment->path);
    if (application != AS_SCHEMA_APPLICATION || schema < 1)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: not an experiment: its database is incomplete; use a directory "
                            "that assay created",
                            experiment->db_path);
    if (schema > as_schema_version)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: written by a newer assay: schema %lld, supported up to %d; use a "
                            "newer assay",
                            experiment->path, (long long)schema, as_schema_version);
    return check_objects(experiment, err);
}

int as_schema_make(struct as_experiment *experiment, struct as_error *err)
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
