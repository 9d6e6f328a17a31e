/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the model: lists a database in memory that has the schema. */
#include "experiment/model.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "experiment/internal.h"
#include "experiment/schema.h"

const char as_model_listing_sql[] =
    "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name, type";

static const char checks_sql[] =
    "SELECT m.name, printf('SELECT 1 FROM \"%w\" WHERE %s LIMIT 1', m.name,"
    " group_concat(printf('typeof(\"%w\") <> ''text''', c.name), ' OR '))"
    " FROM sqlite_schema m JOIN pragma_table_info(m.name) c"
    " WHERE m.type = 'table' AND c.\"notnull\" AND c.type = 'TEXT' GROUP BY m.name";

struct making {
    AS_VEC(struct as_model_object) object;
    AS_VEC(struct as_model_check) check;
    struct as_arena arena; /* holds the texts */
};

static struct {
    pthread_mutex_t lock; /* guards the other members while the model is made */
    bool is_made;
    struct making made;
    struct as_model model;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Copies a column; NULL stays NULL. Returns SQLITE_NOMEM without memory. */
static int copy_model_text(struct making *it, sqlite3_stmt *row, int column, const char **out)
{
    const char *text = (const char *)sqlite3_column_text(row, column);

    *out = text ? as_arena_strndup(&it->arena, text, strlen(text)) : NULL;
    return text && !*out ? SQLITE_NOMEM : SQLITE_OK;
}

static int add_model_object(struct making *it, sqlite3_stmt *row)
{
    struct as_model_object object;
    int code = SQLITE_OK;

    for (int i = 0; i < AS_MODEL_TEXTS && code == SQLITE_OK; i++)
        code = copy_model_text(it, row, i, &object.text[i]);
    return code == SQLITE_OK && as_vec_push(&it->object, object) < 0 ? SQLITE_NOMEM : code;
}

static int add_model_check(struct making *it, sqlite3_stmt *row)
{
    struct as_model_check check = {0};
    int code = copy_model_text(it, row, 0, &check.table);

    if (code == SQLITE_OK)
        code = copy_model_text(it, row, 1, &check.sql);
    return code == SQLITE_OK && as_vec_push(&it->check, check) < 0 ? SQLITE_NOMEM : code;
}

static int read_model_rows(sqlite3 *db, const char *sql, struct making *it,
                           int (*take)(struct making *, sqlite3_stmt *))
{
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &rows, NULL);

    while (code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        code = take(it, rows);
    sqlite3_finalize(rows);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int make_model(struct making *it, struct as_error *err)
{
    sqlite3 *db = NULL;
    int rc = 0,
        code =
            sqlite3_open_v2(":memory:", &db,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);

    as_arena_init(&it->arena);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, as_schema_sql, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = read_model_rows(db, as_model_listing_sql, it, add_model_object);
    if (code == SQLITE_OK)
        code = read_model_rows(db, checks_sql, it, add_model_check);
    if (code != SQLITE_OK)
        rc = as_sql_failure("the schema", db, code, "making it", err);
    sqlite3_close(db);
    return rc;
}

static void forget_model(struct making *it)
{
    as_vec_fini(&it->object);
    as_vec_fini(&it->check);
    as_arena_fini(&it->arena);
    *it = (struct making){0};
}

int as_model_get(const struct as_model **out, struct as_error *err)
{
    struct making *it = &known.made;
    int rc = 0;

    pthread_mutex_lock(&known.lock);
    if (!known.is_made) {
        rc = make_model(it, err);
        known.is_made = rc == 0;
        if (rc < 0)
            forget_model(it);
        known.model = (struct as_model){it->object.at, it->object.n, it->check.at, it->check.n};
    }
    pthread_mutex_unlock(&known.lock);
    *out = &known.model;
    return rc;
}
