/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a part of the time, and the places of their cells. */
#include <string.h>

#include "timeline/answer.h"
#include "timeline/histogram.h"

#define COLUMNS_MAX     ((int64_t)1000) /* of a histogram */
#define COLUMNS_DEFAULT ((int64_t)20)

/* Reads the columns of a histogram: "columns", and "min" with "max" unless the values set them. */
static void query_histogram(struct as_timeline_request *r, struct as_timeline_histogram *out)
{
    struct as_quantity min = as_whole(0), max = as_whole(0);
    const int64_t columns_n =
        as_timeline_query_number(r, "columns", COLUMNS_DEFAULT, 1, COLUMNS_MAX);
    const bool has_min = as_timeline_query_quantity(r, "min", &min),
               has_max = as_timeline_query_quantity(r, "max", &max);
    r->is_bad |= has_min != has_max || as_quantity_compare(min, max) > 0;
    as_timeline_histogram_init(out, columns_n, has_min ? &min : NULL, has_max ? &max : NULL);
}

static bool find_in_column(struct as_timeline_request *r, uint32_t row, int64_t ns,
                           struct as_timeline_found *out)
{
    const int64_t column = as_timeline_query_number(r, "column", 0, 0, COLUMNS_MAX);
    struct as_timeline_histogram h;
    struct as_error ignored;
    query_histogram(r, &h);
    r->is_bad |= h.table.columns.is_automatic;
    h.cells.result.table = &h.table;
    const bool is_there = !r->is_bad &&
                          as_cells_scale(&h.cells, &(struct as_window){0}, NULL, &ignored) == 0 &&
                          as_timeline_next_in_column(as_timeline_query_index(r), row,
                                                     &h.cells.result.columns, column, ns, out);
    as_timeline_histogram_fini(&h);
    return is_there;
}

/* Finds the next piece that begins behind a time. The piece has one code at one place, or its
 * value is in one column of a histogram. */
int as_timeline_answer_find(struct as_timeline_request *r)
{
    if (!r->metric)
        return 404;
    struct as_timeline_found found = {0};
    const uint32_t row = (uint32_t)as_timeline_query_number(r, "row", 0, 0, UINT32_MAX);
    const int64_t code = as_timeline_query_number(r, "code", 0, 0, AS_TIMELINE_CODES_MAX);
    const int64_t ns = as_timeline_query_number(r, "ns", -1, -1, INT64_MAX - 1);
    const bool is_there =
        r->metric->index.head->is_code
            ? as_timeline_next_code(&r->metric->index, row, (uint64_t)code, ns, &found)
            : find_in_column(r, row, ns, &found);
    if (r->is_bad)
        return 400;
    as_json_object_begin(&r->json);
    if (is_there) {
        as_json_key_i64(&r->json, "begin_ns", found.item->ns);
        as_json_key_i64(&r->json, "end_ns", found.end_ns);
    }
    as_json_object_end(&r->json);
    return 200;
}

/* ---- Tables -----------------------------------------------------------------------------------
 */

static int write_code_rows(struct as_timeline_request *r, const struct as_timeline_view *v)
{
    const struct as_timeline_index *index = as_timeline_query_index(r);
    uint64_t times[AS_TIMELINE_CODES_MAX];
    for (uint32_t row = 0; row < v->rows_n; row++) {
        memset(times, 0, sizeof times);
        as_timeline_add_code_times(index, v->first_row + row, v->from_ns, v->to_ns, times);
        as_json_array_begin(&r->json);
        for (uint64_t code = 0; code < index->head->codes_n; code++)
            as_json_u64(&r->json, times[code]);
        as_json_array_end(&r->json);
    }
    return 200;
}

static int write_level_rows(struct as_timeline_request *r, struct as_timeline_view *v)
{
    v->pixels_n = 1;
    struct as_timeline_levels *levels = as_calloc((size_t)v->rows_n + 1, sizeof *levels);
    if (!levels)
        return 500;
    as_timeline_draw_levels(as_timeline_query_index(r), v, levels);
    for (uint32_t row = 0; row < v->rows_n; row++) {
        as_json_array_begin(&r->json);
        as_json_double(&r->json, (double)levels[row].mean);
        as_json_double(&r->json, (double)levels[row].max);
        as_json_double(&r->json, (double)levels[row].min);
        as_json_array_end(&r->json);
    }
    as_free(levels);
    return 200;
}

/* Time by code, or mean, max and min, of each object between two times. */
int as_timeline_answer_table(struct as_timeline_request *r)
{
    struct as_timeline_view v;
    as_timeline_query_view(r, &v);
    if (r->is_bad || !r->metric)
        return r->is_bad ? 400 : 404;
    as_json_object_begin(&r->json);
    as_json_key(&r->json, "rows");
    as_json_array_begin(&r->json);
    const int status = as_timeline_query_index(r)->head->is_code ? write_code_rows(r, &v)
                                                                 : write_level_rows(r, &v);
    as_json_array_end(&r->json);
    as_json_object_end(&r->json);
    return status;
}

static void write_histogram(struct as_timeline_request *r, const struct as_histogram_result *result)
{
    const struct as_histogram_scale *scale = &result->columns;
    as_json_object_begin(&r->json);
    as_json_key_double(&r->json, "min", as_quantity_double(scale->min));
    as_json_key_double(&r->json, "max", as_quantity_double(scale->max));
    as_json_key_double(&r->json, "delta", as_quantity_double(scale->delta));
    as_json_key_i64(&r->json, "columns_n", scale->columns_n);
    as_json_key_u64(&r->json, "outside_n", result->outside_n);
    as_json_key_i64(&r->json, "outside_ns", result->outside_ns);
    as_json_key(&r->json, "cells");
    as_json_array_begin(&r->json);
    as_vec_foreach (&result->cell, cell) {
        as_json_array_begin(&r->json);
        as_json_u64(&r->json, cell->row);
        as_json_i64(&r->json, cell->column);
        as_json_i64(&r->json, cell->cell.time_ns);
        as_json_i64(&r->json, cell->cell.bursts_n);
        as_json_array_end(&r->json);
    }
    as_json_array_end(&r->json);
    as_json_object_end(&r->json);
}

/* [row, column, ns, pieces] of the cells of a histogram that have any. */
int as_timeline_answer_histogram(struct as_timeline_request *r)
{
    struct as_timeline_view v;
    struct as_timeline_histogram h;
    struct as_error ignored;
    as_timeline_query_view(r, &v);
    query_histogram(r, &h);
    if (!r->metric || r->metric->index.head->is_code || r->is_bad)
        return r->is_bad ? 400 : 404;
    const int rc = as_timeline_histogram_add(&h, as_timeline_query_index(r), &v, &ignored);
    if (rc == 0)
        write_histogram(r, &h.cells.result);
    as_timeline_histogram_fini(&h);
    return rc < 0 ? 500 : 200;
}

/* [sender, receiver, messages, bytes] of the messages that are sent between two times. */
int as_timeline_answer_matrix(struct as_timeline_request *r)
{
    struct as_timeline_view v;
    struct as_timeline_pairs pairs = {0};
    r->metric = NULL;
    as_timeline_query_view(r, &v);
    if (r->is_bad)
        return 400;
    const int rc = as_timeline_add_pairs(as_timeline_query_records(r), v.from_ns, v.to_ns, &pairs);
    as_json_object_begin(&r->json);
    as_json_key_bool(&r->json, "is_cut", pairs.is_cut);
    as_json_key(&r->json, "pairs");
    as_json_array_begin(&r->json);
    as_vec_foreach (&pairs.pair, one) {
        as_json_array_begin(&r->json);
        as_json_u64(&r->json, one->key >> 32);
        as_json_u64(&r->json, one->key & UINT32_MAX);
        as_json_u64(&r->json, one->n);
        as_json_double(&r->json, one->bytes);
        as_json_array_end(&r->json);
    }
    as_json_array_end(&r->json);
    as_json_object_end(&r->json);
    as_vec_fini(&pairs.pair);
    return rc < 0 ? 500 : 200;
}
