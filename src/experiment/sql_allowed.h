/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allow-list for SQL that assay did not write: functions, pragmas and table-valued functions.
 * data/experiment/functions.txt lists the functions.
 */
#ifndef AS_EXPERIMENT_SQL_ALLOWED_H
#define AS_EXPERIMENT_SQL_ALLOWED_H

#include <sqlite3.h>
#include <stdbool.h>

struct as_sql_function {
    const char *name;
    const char *example; /* an expression with a call of it */
    const char *value;   /* value of the example as text */
};
/* The list ends with a NULL name. */
extern const struct as_sql_function as_sql_functions[];

/*
 * Removes all virtual table modules but json_each and json_tree from the connection, and installs
 * the authorizer. The authorizer refuses (SQLITE_DENY) only while `*guarded` is true. `guarded`
 * must live as long as the connection.
 */
void as_allowed_install(sqlite3 *db, const bool *guarded);

#endif
