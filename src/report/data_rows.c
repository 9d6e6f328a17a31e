/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a statement as JSON: an object each, its members named as the columns. Five columns of
 * one name become a quantity (doc/reference/report-data.md).
 */
#include "report/data.h"

#include <string.h>

#include "base/error.h"

void as_data_cell(struct as_json *json, struct as_rows *rows, int i)
{
    switch (as_rows_kind(rows, i)) {
    case AS_SQL_CELL_NULL:
    case AS_SQL_CELL_BLOB:
        as_json_null(json);
        break;
    case AS_SQL_CELL_INTEGER:
        as_json_i64(json, as_rows_integer(rows, i));
        break;
    case AS_SQL_CELL_REAL:
        as_json_double(json, as_rows_real(rows, i));
        break;
    case AS_SQL_CELL_TEXT:
        as_json_string(json, as_rows_text(rows, i));
        break;
    }
}

/* Five columns from `i` on. */
static void write_quantity(struct as_json *json, struct as_rows *rows, int i)
{
    static const char *const key[] = {"value", "low", "high", "n", "origin"};

    if (as_rows_kind(rows, i) == AS_SQL_CELL_NULL) {
        as_json_null(json);
        return;
    }
    as_json_object_begin(json);
    for (int k = 0; k < 5; k++) {
        as_json_key(json, key[k]);
        as_data_cell(json, rows, i + k);
    }
    as_json_object_end(json);
}

void as_data_row(struct as_json *json, struct as_rows *rows)
{
    const int n = as_rows_column_n(rows);

    for (int i = 0; i < n; i++) {
        const char *name = as_rows_column(rows, i);
        const char *dot = strchr(name, '.');
        char key[64];

        if (!dot || (size_t)(dot - name) >= sizeof key) {
            as_json_key(json, name);
            as_data_cell(json, rows, i);
            continue;
        }
        memcpy(key, name, (size_t)(dot - name));
        key[dot - name] = '\0';
        as_json_key(json, key);
        write_quantity(json, rows, i);
        i += 4;
    }
}

/* Closes `rows`. */
static int write_rows(struct as_document *document, const char *key, struct as_rows *rows,
                      bool is_one, struct as_error *err)
{
    struct as_json *json = &document->json;
    bool is_there = false;
    int more;

    as_json_key(json, key);
    if (!is_one)
        as_json_array_begin(json);
    while ((more = as_rows_next(rows, err)) > 0 && !json->out->failed) {
        as_json_object_begin(json);
        as_data_row(json, rows);
        as_json_object_end(json);
        is_there = true;
        if (is_one)
            break;
    }
    if (is_one && more > 0 && !is_there) /* what is written is lost, the key has a value */
        as_json_null(json);
    if (is_one && more == 0)
        more = as_error_set(err, AS_ERR_CORRUPT,
                            "%s: damaged: section '%s' is missing; restore a backup",
                            as_experiment_path(document->experiment), key);
    else if (!is_one && more >= 0)
        as_json_array_end(json);
    as_rows_close(&rows);
    return more < 0 ? more : 0;
}

int as_data_rows(struct as_document *document, const char *key, const char *sql, bool is_one,
                 struct as_error *err)
{
    struct as_rows *rows;

    AS_TRY(as_rows_open(document->experiment, sql, &rows, err));
    as_rows_bind_integer(rows, 1, document->run_id);
    return write_rows(document, key, rows, is_one, err);
}

int as_data_level(struct as_document *document, const char *key, const char *sql, int64_t level,
                  struct as_error *err)
{
    struct as_rows *rows;

    AS_TRY(as_rows_open(document->experiment, sql, &rows, err));
    as_rows_bind_integer(rows, 1, document->run_id);
    as_rows_bind_integer(rows, 2, level);
    return write_rows(document, key, rows, false, err);
}
