/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects of a database that assay made. The model is computed once per process: it takes as long
 * as all other checks when an experiment is opened.
 */
#ifndef AS_EXPERIMENT_MODEL_H
#define AS_EXPERIMENT_MODEL_H

#include <stddef.h>

#include "base/error.h"

/* Lists the objects of a database in the order of the model. */
extern const char as_model_listing_sql[];
#define AS_MODEL_TEXTS 4

/* A row of the listing: type, name, table, SQL; NULL if SQLite has no value. */
struct as_model_object {
    const char *text[AS_MODEL_TEXTS];
};

/* A statement that finds a row of a table with a required text missing. */
struct as_model_check {
    const char *table, *sql;
};

struct as_model {
    const struct as_model_object *object;
    size_t object_n;
    const struct as_model_check *check;
    size_t check_n;
};

/* Returns the model, which lives as long as the process. Thread-safe. Errors: NOMEM, INTERNAL. */
int as_model_get(const struct as_model **out, struct as_error *err);

#endif
