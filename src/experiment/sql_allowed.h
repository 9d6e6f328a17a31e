/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions, pragmas and table-valued functions that a statement may use which assay did not
 * write. The functions are data/experiment/functions.txt.
 */
#ifndef AS_EXPERIMENT_SQL_ALLOWED_H
#define AS_EXPERIMENT_SQL_ALLOWED_H

#include <sqlite3.h>
#include <stdbool.h>

struct as_sql_function {
    const char *name;
    const char *example; /* an expression that calls it */
    const char *value;   /* of the example, as text */
};
/* Ends with a NULL name. */
extern const struct as_sql_function as_sql_functions[];

/*
 * Removes every module of virtual tables but json_each and json_tree from the connection, and
 * installs the authorizer. The authorizer refuses (SQLITE_DENY) while `*guarded` is true; `guarded`
 * must live as long as the connection.
 */
void as_allowed_install(sqlite3 *db, const bool *guarded);

#endif
