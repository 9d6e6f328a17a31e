/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a database that assay made holds: SQLite is asked once in a process, for it takes as long as
 * all else that is looked at when an experiment is opened.
 */
#ifndef AS_EXPERIMENT_MODEL_H
#define AS_EXPERIMENT_MODEL_H

#include <stddef.h>

#include <assay/error.h>

/* Of a database: what there is, in the order in which the model has it. */
extern const char as_model_listing_sql[];
#define AS_MODEL_TEXTS 4

/* A row of the listing: type, name, table, SQL; NULL where SQLite has none. */
struct as_model_object {
    const char *text[AS_MODEL_TEXTS];
};

/* The statement that finds a row of a table without a text that must be there. */
struct as_model_check {
    const char *table, *sql;
};

struct as_model {
    const struct as_model_object *object;
    size_t object_n;
    const struct as_model_check *check;
    size_t check_n;
};

/* Lives as long as the process; any thread may ask. Errors: NOMEM, INTERNAL. */
int as_model_get(const struct as_model **out, struct assay_error *err);

#endif
