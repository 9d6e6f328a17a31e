/* SPDX-License-Identifier: Apache-2.0 */
/* Writes many rows with one statement, from an array of structs. */
#ifndef AS_EXPERIMENT_BULK_H
#define AS_EXPERIMENT_BULK_H

#include "experiment/internal.h"
#include "experiment/schema.h"

struct as_bulk {
    const char *table, *what;
    const struct as_row_column *column; /* members of the struct, one per column */
    size_t column_n;
    /* SQL for a row with an existing key (" ON CONFLICT ..."); NULL: such a row is an error */
    const char *conflict;
    const void *row;
    size_t row_b, n;
    int64_t first_id; /* id of the first row; the others count up from it; 0 = rows without ids */
};

/* Writes all rows or none. Errors: those of as_sql_insert. */
int as_bulk_add(struct as_experiment *experiment, const struct as_bulk *bulk, struct as_error *err);

/* ---- record.c ---- */

/* Returns a member of a row as the result of an SQLite function. */
void as_row_result(sqlite3_context *context, enum as_row_kind kind, const char *from);

#endif
