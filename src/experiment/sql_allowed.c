/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The authorizer of SQLite (https://www.sqlite.org/c3ref/set_authorizer.html) as an allow-list.
 * SQLite also calls it when a changed schema makes it compile a statement again. The authorizer
 * therefore stays installed, and a flag switches it on. Modules are removed instead of refused,
 * because SQLite connects to a module before it asks for permission.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "experiment/sql_allowed.h"

#define PRAGMA_TABLE "pragma_" /* prefix of the table names of pragmas */

static bool is_listed(const char *const *listed, const char *name)
{
    for (; *listed; listed++)
        if (strcasecmp(*listed, name) == 0)
            return true;
    return false;
}

/* Returns true for pragmas that read only. */
static bool is_reading_pragma(const char *name)
{
    static const char *const listed[] = {
        "application_id",   "compile_options", "foreign_key_check",
        "foreign_key_list", "freelist_count",  "index_info",
        "index_list",       "index_xinfo",     "integrity_check",
        "journal_mode",     "page_count",      "quick_check",
        "schema_version",   "table_info",      "table_list",
        "table_xinfo",      "user_version",    NULL,
    };

    return name && is_listed(listed, name);
}

static bool is_function(const char *name)
{
    for (const struct as_sql_function *it = as_sql_functions; it->name; it++)
        if (name && strcasecmp(it->name, name) == 0)
            return true;
    return false;
}

static bool is_table(const char *name)
{
    const size_t n = sizeof PRAGMA_TABLE - 1;

    return !name || strncasecmp(name, PRAGMA_TABLE, n) != 0 || is_reading_pragma(name + n);
}

/* A value sets a pragma, except for pragmas with a table name as value. */
static bool is_pragma(const char *name, const char *value)
{
    static const char *const setting[] = {"application_id", "journal_mode", "schema_version",
                                          "user_version", NULL};

    return is_reading_pragma(name) && !(value && is_listed(setting, name));
}

static int authorize(void *context, int action, const char *first, const char *second,
                     const char *database, const char *trigger)
{
    const bool *guarded = context;
    bool is_allowed = false;

    (void)database;
    (void)trigger;
    if (!*guarded)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        is_allowed = true;
        break;
    case SQLITE_READ:
        is_allowed = is_table(first);
        break;
    case SQLITE_FUNCTION:
        is_allowed = is_function(second);
        break;
    case SQLITE_PRAGMA:
        is_allowed = is_pragma(first, second);
        break;
    /* Table-valued functions declare their columns by an update of sqlite_master. A user's
     * UPDATE is refused elsewhere (sqlite3_stmt_readonly). */
    case SQLITE_UPDATE:
        is_allowed = first && strcasecmp(first, "sqlite_master") == 0;
        break;
    default:
        break;
    }
    return is_allowed ? SQLITE_OK : SQLITE_DENY;
}

void as_allowed_install(sqlite3 *db, const bool *guarded)
{
    static const char *kept[] = {"json_each", "json_tree", NULL};

    sqlite3_drop_modules(db, kept);
#ifdef SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
#endif
    sqlite3_set_authorizer(db, authorize, (void *)(uintptr_t)guarded);
}
