/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that hold under a condition, as sections of the pages of their objects. A condition is one
 * path of a loop, a variant, a machine and so on. The rows of views cannot show them. Only the
 * hottest loops and functions are written, up to a limit; the experiment has all of them.
 * data_variants.c writes the values of variants.
 */
#include "report/data.h"

#include <math.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/* Max objects, and max rows of all their tables. A row takes about 20 bytes of a page. */
#define OBJECTS_MOST 200
#define ROWS_MOST    20000

struct conditional {
    const char *kind;
    int64_t id;
};

static const char objects_sql[] =
    "SELECT object_kind, object_id FROM object_time WHERE run_id = ?1"
    " AND object_kind IN ('loop', 'function') AND EXISTS (SELECT 1 FROM context)"
    " ORDER BY exclusive_ns DESC, inclusive_ns DESC, object_kind, object_id LIMIT ?2";

static const char values_sql[] =
    "SELECT v.metric, substr(ifnull(', path ' || c.path, '') || ifnull(', ' || c.variant, '')"
    " || ifnull(', ' || c.bucket, '') || ifnull(', ' || c.machine, '')"
    " || ifnull(', ' || c.model, '') || ifnull(', ' || c.thread_n || ' threads', '')"
    " || ifnull(', ' || c.memory_level, ''), 3), v.value, v.low, v.high, v.unit, v.origin"
    " FROM v_values v JOIN context c USING (context_id)"
    " WHERE v.object_kind = ?1 AND v.object_id = ?2 AND v.run_id IN (0, ?3)"
    " AND v.metric NOT GLOB 'decan_*' AND v.metric NOT GLOB 'variant_*'"
    " ORDER BY v.metric, c.path, v.context_id, v.run_id LIMIT ?4";

static void write_row(struct as_json *json, struct as_rows *rows)
{
    as_json_array_begin(json);
    for (int i = 0; i < 7; i++) {
        const double real = as_rows_real(rows, i);

        if (as_rows_kind(rows, i) == AS_SQL_CELL_TEXT)
            as_json_string(json, as_rows_text(rows, i));
        else if (as_rows_kind(rows, i) == AS_SQL_CELL_NULL || !isfinite(real))
            as_json_null(json);
        else
            as_json_double(json, real);
    }
    as_json_array_end(json);
}

static void begin_section(struct as_json *json, const struct conditional *it)
{
    static const char *const columns[] = {"Metric", "Holds for", "Value", "Low",
                                          "High",   "Unit",      "Origin"};

    as_json_object_begin(json);
    as_json_key_string(json, "object", it->kind);
    as_json_key_i64(json, "id", it->id);
    as_json_key_string(json, "name", "conditions");
    as_json_key_string(json, "title", "By path, variant or machine");
    as_json_key_i64(json, "order", 1000); /* behind the sections of passes */
    as_json_key(json, "table");
    as_json_object_begin(json);
    as_json_key(json, "columns");
    as_json_array_begin(json);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        as_json_string(json, columns[i]);
    as_json_array_end(json);
    as_json_key(json, "rows");
    as_json_array_begin(json);
}

static void end_section(struct as_json *json, bool is_cut)
{
    as_json_array_end(json);
    as_json_object_end(json);
    as_json_key_string(json, "text",
                       is_cut ? "More of them are in the experiment (assay query, view v_values)."
                              : NULL);
    as_json_key(json, "svg");
    as_json_null(json);
    as_json_object_end(json);
}

/* Writes the tables of an object. `*room` is the number of rows left; it is reduced. */
static int write_object(struct as_document *document, const struct conditional *it, size_t *room,
                        struct as_error *err)
{
    struct as_rows *rows;
    bool is_open = false, is_cut = false;
    int rc;

    AS_TRY(as_rows_open(document->experiment, values_sql, &rows, err));
    as_rows_bind_text(rows, 1, it->kind);
    as_rows_bind_integer(rows, 2, it->id);
    as_rows_bind_integer(rows, 3, document->run_id);
    as_rows_bind_integer(rows, 4, (int64_t)*room + 1);
    while ((rc = as_rows_next(rows, err)) > 0) {
        if (!is_open)
            begin_section(&document->json, it);
        is_open = true;
        is_cut = *room == 0;
        if (is_cut)
            break;
        write_row(&document->json, rows);
        --*room;
    }
    if (is_open && rc >= 0)
        end_section(&document->json, is_cut);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

int as_data_conditions(struct as_document *document, struct as_error *err)
{
    AS_VEC(struct conditional) object = {0};
    struct as_rows *rows;
    size_t room = ROWS_MOST;
    int rc;

    AS_TRY(as_rows_open(document->experiment, objects_sql, &rows, err));
    as_rows_bind_integer(rows, 1, document->run_id);
    as_rows_bind_integer(rows, 2, OBJECTS_MOST);
    while ((rc = as_rows_next(rows, err)) > 0) {
        const struct conditional it = {.kind =
                                           as_object_word(as_object_kind_of(as_rows_text(rows, 0))),
                                       .id = as_rows_integer(rows, 1)};

        if (as_vec_push(&object, it) < 0) {
            rc = as_error_nomem(err, "the sections of a report");
            break;
        }
    }
    as_rows_close(&rows);
    for (size_t i = 0; rc == 0 && i < object.n && room; i++)
        rc = write_object(document, &object.at[i], &room, err);
    as_vec_fini(&object);
    return rc;
}
