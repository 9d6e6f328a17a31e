/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of several runs, and sections that passes add to the page of an object. Each function
 * writes its key, with null or an empty array without results.
 */
#include "base/error.h"
#include "compare/compare.h"
#include "report/data.h"

#include <string.h>

/* ---- Sections ------------------------------------------------------------------------------ */

static int write_columns(struct as_document *document, int64_t detail_id, struct as_error *err)
{
    struct as_json *json = &document->json;
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(document->experiment,
                        "SELECT c.value FROM detail d, json_each(d.columns) c"
                        " WHERE d.detail_id = ?1 ORDER BY c.key",
                        &rows, err));
    as_rows_bind_integer(rows, 1, detail_id);
    as_json_key(json, "columns");
    as_json_array_begin(json);
    while ((rc = as_rows_next(rows, err)) > 0)
        as_json_string(json, as_rows_text(rows, 0));
    if (rc == 0)
        as_json_array_end(json);
    as_rows_close(&rows);
    return rc;
}

static int write_cells(struct as_document *document, int64_t detail_id, struct as_error *err)
{
    struct as_json *json = &document->json;
    struct as_rows *rows;
    int64_t row = 0;
    bool is_open = false;
    int rc;

    AS_TRY(as_rows_open(document->experiment,
                        "SELECT r.key, c.value FROM detail d, json_each(d.cells) r,"
                        " json_each(r.value) c WHERE d.detail_id = ?1 ORDER BY r.key, c.key",
                        &rows, err));
    as_rows_bind_integer(rows, 1, detail_id);
    as_json_key(json, "rows");
    as_json_array_begin(json);
    while ((rc = as_rows_next(rows, err)) > 0) {
        if (!is_open || as_rows_integer(rows, 0) != row) {
            if (is_open)
                as_json_array_end(json);
            as_json_array_begin(json);
            is_open = true;
            row = as_rows_integer(rows, 0);
        }
        as_data_cell(json, rows, 1);
    }
    if (rc == 0 && is_open)
        as_json_array_end(json);
    if (rc == 0)
        as_json_array_end(json);
    as_rows_close(&rows);
    return rc;
}

static int write_table(struct as_document *document, int64_t detail_id, bool has_table,
                       struct as_error *err)
{
    struct as_json *json = &document->json;

    as_json_key(json, "table");
    if (!has_table) {
        as_json_null(json);
        return 0;
    }
    as_json_object_begin(json);
    AS_TRY(write_columns(document, detail_id, err));
    AS_TRY(write_cells(document, detail_id, err));
    as_json_object_end(json);
    return 0;
}

/* Returns true for a timeline that a picture shows, so its table is not needed. */
static bool is_drawn(struct as_rows *rows)
{
    const char *name = as_rows_text(rows, 3);

    return name && strcmp(name, "timeline") == 0;
}

/* Tables that the page also draws: their columns by number, and kinds of objects. */
static const struct section_chart {
    const char *name, *kind;
    int x, y, group; /* group -1: none */
} charts[] = {
    {"core_ports", "cells", 0, 1, -1},
    {"instances", "bars", 0, 2, -1},
    {"instance_cycles", "bars", 0, 2, -1},
    {"instance_line", "points", 0, 1, 4},
};

static void write_chart(struct as_json *json, const char *name)
{
    const struct section_chart *it = NULL;

    for (size_t i = 0; name && i < sizeof charts / sizeof *charts; i++)
        if (strcmp(charts[i].name, name) == 0)
            it = &charts[i];
    as_json_key(json, "chart");
    if (!it) {
        as_json_null(json);
        return;
    }
    as_json_object_begin(json);
    as_json_key_string(json, "kind", it->kind);
    as_json_key_i64(json, "x", it->x);
    as_json_key_i64(json, "y", it->y);
    as_json_key(json, "group");
    if (it->group < 0)
        as_json_null(json);
    else
        as_json_i64(json, it->group);
    as_json_object_end(json);
}

static int write_section(struct as_document *document, struct as_rows *rows, struct as_error *err)
{
    struct as_json *json = &document->json;

    as_json_object_begin(json);
    as_json_key_string(json, "object", as_rows_text(rows, 1));
    as_json_key_i64(json, "id", as_rows_integer(rows, 2));
    as_json_key_string(json, "name", as_rows_text(rows, 3));
    as_json_key_string(json, "title", as_rows_text(rows, 4));
    as_json_key_i64(json, "order", as_rows_integer(rows, 5));
    as_json_key(json, "text");
    as_data_cell(json, rows, 6);
    const int64_t id = as_rows_integer(rows, 0);
    const bool drawn = is_drawn(rows);
    AS_TRY(write_table(document, id, as_rows_integer(rows, 7) > 0 && !drawn, err));
    write_chart(json, as_rows_text(rows, 3));
    as_json_key(json, "svg");
    as_json_null(json);
    if (drawn)
        AS_TRY(as_data_timeline(document, id, err));
    as_json_object_end(json);
    return 0;
}

/* Writes the sections. Similar sections are adjacent, which halves the size of the compressed
 * document. */
static int write_sections(struct as_document *document, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(document->experiment,
                        "SELECT s.detail_id, s.object_kind, s.object_id, s.name, s.title,"
                        " s.position, s.text, s.columns IS NOT NULL"
                        " FROM detail s WHERE s.run_id IN (0, ?1)"
                        " ORDER BY s.name, s.object_kind, s.object_id, s.position",
                        &rows, err));
    as_rows_bind_integer(rows, 1, document->run_id);
    as_json_key(&document->json, "sections");
    as_json_array_begin(&document->json);
    while ((rc = as_rows_next(rows, err)) > 0) {
        rc = write_section(document, rows, err);
        if (rc < 0)
            break;
    }
    as_rows_close(&rows);
    if (rc == 0)
        rc = as_data_graphs(document, err);
    if (rc == 0)
        rc = as_data_conditions(document, err);
    if (rc == 0)
        as_json_array_end(&document->json);
    return rc;
}

/* ---- Modes --------------------------------------------------------------------------------- */

static int write_scalability(struct as_document *document, struct as_error *err)
{
    struct as_scalability *it = NULL;

    AS_TRY(as_compare_scalability(document->experiment, NULL, &it, err));
    as_json_key(&document->json, "scalability");
    as_report_scalability_json(it, &document->json);
    as_scalability_free(&it);
    return 0;
}

static int write_stability(struct as_document *document, struct as_error *err)
{
    struct as_stability *it = NULL;

    AS_TRY(as_compare_stability(document->experiment, &it, err));
    as_json_key(&document->json, "stability");
    as_report_stability_json(it, &document->json);
    as_stability_free(&it);
    return 0;
}

int as_data_modes(struct as_document *document, struct as_error *err)
{
    AS_TRY(write_sections(document, err));
    AS_TRY(write_scalability(document, err));
    AS_TRY(write_stability(document, err));
    as_json_key(&document->json, "comparison");
    as_report_comparison_json(document->comparison, &document->json);
    return 0;
}
