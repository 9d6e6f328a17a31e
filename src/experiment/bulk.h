/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing many rows by one statement, from an array of structs.
 */
#ifndef AS_EXPERIMENT_BULK_H
#define AS_EXPERIMENT_BULK_H

#include "experiment/internal.h"
#include "experiment/schema.h"

struct as_bulk {
    const char *table, *what;
    const struct as_row_column *column; /* members of the struct */
    size_t column_n;
    const char *conflict; /* what a row of the same key does; NULL: it is an error */
    const void *row;
    size_t row_b, n;
    int64_t first_id; /* the rows get this id and the next ones; 0: they have none */
};

/* All rows or none. Errors: as as_sql_insert. */
int as_bulk_add(struct assay_experiment *experiment, const struct as_bulk *bulk,
                struct assay_error *err);

/* ---- record.c ---- */

/* A member of a row as the result of a function of SQLite. */
void as_row_result(sqlite3_context *context, enum as_row_kind kind, const char *from);

#endif
