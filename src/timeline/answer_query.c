/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a request. */
#include "exchange/prv_lines.h"
#include "timeline/answer.h"

#define PIXELS_MAX ((int64_t)8192)
#define FIELDS_MAX ((int64_t)4 << 20) /* pixels x rows of an answer */

bool as_timeline_query_text(struct as_view query, const char *key, struct as_view *out)
{
    struct as_view part, name;
    while (as_view_split(&query, '&', &part))
        if (as_view_split(&part, '=', &name) && as_view_equal(name, as_view_of(key))) {
            *out = part;
            return true;
        }
    return false;
}

/* A number from `min` to `max`, or the default. */
int64_t as_timeline_query_number(struct as_timeline_request *r, const char *key, int64_t otherwise,
                                 int64_t min, int64_t max)
{
    struct as_view text;
    int64_t value;
    if (!as_timeline_query_text(r->query, key, &text))
        return otherwise;
    if (as_lines_integer(&text, &value) && text.n == 0 && value >= min && value <= max)
        return value;
    r->is_bad = true;
    return otherwise;
}

/* A decimal number; false: none is given. */
bool as_timeline_query_quantity(struct as_timeline_request *r, const char *key,
                                struct as_quantity *out)
{
    struct as_view text;
    if (!as_timeline_query_text(r->query, key, &text))
        return false;
    r->is_bad |= !as_quantity_read(text, out);
    return true;
}

const struct as_timeline_index *as_timeline_query_records(const struct as_timeline_request *r)
{
    return &r->timeline->metric.at[0].index;
}

const struct as_timeline_index *as_timeline_query_index(const struct as_timeline_request *r)
{
    return r->metric ? &r->metric->index : as_timeline_query_records(r);
}

static uint32_t rows_n_of(const struct as_timeline_request *r)
{
    return (uint32_t)r->timeline->trace->objects.row[as_timeline_query_index(r)->head->level].n;
}

void as_timeline_query_view(struct as_timeline_request *r, struct as_timeline_view *v)
{
    const int64_t end_ns = as_timeline_query_records(r)->head->end_ns, rows_n = rows_n_of(r);
    v->from_ns = as_timeline_query_number(r, "from", 0, 0, INT64_MAX);
    v->to_ns = as_timeline_query_number(r, "to", end_ns, 0, INT64_MAX);
    v->pixels_n = (uint32_t)as_timeline_query_number(r, "px", 1, 1, PIXELS_MAX);
    v->first_row = (uint32_t)as_timeline_query_number(r, "row", 0, 0, rows_n);
    v->rows_n = (uint32_t)as_timeline_query_number(r, "rows", rows_n - v->first_row, 0, UINT32_MAX);
    if (v->rows_n > rows_n - v->first_row)
        v->rows_n = (uint32_t)(rows_n - v->first_row);
    r->is_bad |= v->from_ns > v->to_ns || (int64_t)v->rows_n * v->pixels_n > FIELDS_MAX;
}
