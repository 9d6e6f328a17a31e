/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests and answers. A number that is missing in a query has a default; one that makes no sense
 * gives status 400. Names of series, rows and times that are not there give empty answers.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "timeline/answer.h"
#include "timeline/histogram.h"

#define TYPE_JSON  "application/json"
#define TYPE_BYTES "application/octet-stream"
#define TYPE_TEXT  "text/plain; charset=utf-8"

/* ---- Words ------------------------------------------------------------------------------------
 */

/* Labels of all objects of a level: of the .row file, or "THREAD 1.2.1". */
static void write_objects(struct as_timeline_request *r, enum as_object_level level)
{
    const struct as_evaluated *trace = r->timeline->trace;
    const size_t n = trace->objects.row[level].n;
    const char **label = as_calloc(n + 1, sizeof *label);
    struct as_str name = {0};
    as_vec_foreach (&trace->labels.row, row)
        if (label && row->at < n && strcasecmp(row->level, as_object_level_word(level)) == 0)
            label[row->at] = row->label;
    as_json_key(&r->json, "rows");
    as_json_array_begin(&r->json);
    for (uint32_t i = 0; i < n; i++) {
        as_str_clear(&name);
        if (!label || !label[i])
            as_objects_name(&trace->objects, level, i, &name);
        as_json_string(&r->json, label && label[i] ? label[i] : as_str_z(&name));
    }
    as_json_array_end(&r->json);
    as_str_fini(&name);
    as_free(label);
}

static void write_label(struct as_timeline_request *r, const char *key, const char *label)
{
    as_json_key(&r->json, key);
    if (label)
        as_json_string(&r->json, label);
    else
        as_json_null(&r->json);
}

static const char *value_label(const struct as_timeline_request *r,
                               const struct as_timeline_metric *metric, double value)
{
    const struct as_configuration *c = &metric->configuration;
    return as_evaluated_label(r->timeline->trace, &c->window.at[c->window.n - 1], as_real(value));
}

static void write_type(struct as_timeline_request *r, int64_t type)
{
    const struct as_prv_pcf_type *known = as_prv_pcf_type_of(&r->timeline->trace->labels, type);
    as_json_key_i64(&r->json, "type", type);
    write_label(r, "label", known ? known->label : NULL);
}

/* ---- What there is ----------------------------------------------------------------------------
 */

static void write_metrics(struct as_timeline_request *r)
{
    as_json_key(&r->json, "metrics");
    as_json_array_begin(&r->json);
    as_vec_foreach (&r->timeline->metric, metric) {
        const struct as_configuration *c = &metric->configuration;
        const struct as_window *window = &c->window.at[c->window.n - 1];
        as_json_object_begin(&r->json);
        as_json_key_string(&r->json, "name", metric->ready->name);
        as_json_key_string(&r->json, "title", window->name);
        as_json_key_string(&r->json, "text", metric->ready->description);
        as_json_key_bool(&r->json, "is_code", window->is_code);
        as_json_key_string(&r->json, "level", as_object_level_word(window->level));
        as_json_object_end(&r->json);
    }
    as_json_array_end(&r->json);
}

static int answer_meta(struct as_timeline_request *r)
{
    const struct as_timeline_trace *t = r->timeline;
    const struct as_timeline_head *head = as_timeline_query_records(r)->head;
    struct as_timeline_types types = {0};
    const int rc = as_timeline_list_types(as_timeline_query_records(r), &types);
    as_json_object_begin(&r->json);
    as_json_key_string(&r->json, "title", t->title);
    as_json_key_bool(&r->json, "has_report", t->has_report);
    as_json_key_i64(&r->json, "end_ns", head->end_ns);
    as_json_key_u64(&r->json, "pieces_n", head->pieces_n);
    as_json_key_u64(&r->json, "instants_n", head->instants_n);
    as_json_key_u64(&r->json, "events_n", head->events_n);
    as_json_key_u64(&r->json, "messages_n", head->messages_n);
    as_json_key_u64(&r->json, "bad_lines_n", head->bad_lines_n);
    write_metrics(r);
    as_json_key(&r->json, "types");
    as_json_array_begin(&r->json);
    as_vec_foreach (&types, one) {
        as_json_object_begin(&r->json);
        write_type(r, one->type);
        as_json_key_u64(&r->json, "n", one->n);
        as_json_object_end(&r->json);
    }
    as_json_array_end(&r->json);
    as_json_object_end(&r->json);
    as_vec_fini(&types);
    return rc < 0 ? 500 : 200;
}

static void write_ready_metric(struct as_timeline_request *r)
{
    const struct as_timeline_metric *m = r->metric;
    const struct as_timeline_head *head = m->index.head;
    double min, max;
    as_json_key_string(&r->json, "level", as_object_level_word(head->level));
    as_json_key_bool(&r->json, "is_code", head->is_code);
    as_json_key_u64(&r->json, "pieces_n", head->pieces_n);
    as_json_key_u64(&r->json, "instants_n", head->instants_n);
    write_objects(r, head->level);
    as_json_key(&r->json, "codes");
    as_json_array_begin(&r->json);
    for (uint64_t i = 0; head->is_code && i < head->codes_n; i++) {
        as_json_object_begin(&r->json);
        as_json_key_double(&r->json, "value", m->index.code[i]);
        write_label(r, "label", value_label(r, m, m->index.code[i]));
        as_json_object_end(&r->json);
    }
    as_json_array_end(&r->json);
    as_timeline_extremes(&m->index, &min, &max);
    as_json_key_double(&r->json, "min", min);
    as_json_key_double(&r->json, "max", max);
}

/* The state of a metric; an index that is missing is begun. */
static int answer_metric(struct as_timeline_request *r)
{
    struct as_timeline_trace *t = r->timeline;
    struct as_timeline_metric *metric;
    struct as_view name;
    metric = as_timeline_query_text(r->query, "m", &name) ? as_timeline_metric_of(t, name) : NULL;
    if (!metric)
        return 404;
    as_timeline_want(t, metric);
    as_json_object_begin(&r->json);
    as_json_key_string(&r->json, "name", metric->ready->name);
    as_json_key_string(&r->json, "state",
                       metric->state == AS_METRIC_READY    ? "ready"
                       : metric->state == AS_METRIC_FAILED ? "failed"
                                                           : "making");
    as_json_key_u64(&r->json, "lines_n", as_timeline_lines(t));
    if (metric->state == AS_METRIC_FAILED)
        as_json_key_string(&r->json, "error", metric->error.text);
    if (metric->state == AS_METRIC_READY) {
        r->metric = metric;
        write_ready_metric(r);
    }
    as_json_object_end(&r->json);
    return 200;
}

/* ---- Pictures ---------------------------------------------------------------------------------
 */

/* Room behind the head of a tile; NULL: no memory. */
static void *tile_room(struct as_timeline_request *r, const struct as_timeline_view *v,
                       uint32_t kind, size_t element_b)
{
    const uint32_t head[4] = {kind, v->rows_n, v->pixels_n, v->first_row};
    as_str_append(r->body, (const char *)head, sizeof head);
    return as_calloc((size_t)v->rows_n * v->pixels_n + 1, element_b);
}

static int end_tile(struct as_timeline_request *r, const struct as_timeline_view *v, void *tile,
                    size_t element_b, int rc)
{
    if (rc == 0)
        as_str_append(r->body, tile, (size_t)v->rows_n * v->pixels_n * element_b);
    as_free(tile);
    return rc < 0 ? 500 : 200;
}

/* "draw=draw_last"; BY_KIND without it. */
static enum as_draw_mode query_draw_mode(struct as_timeline_request *r)
{
    enum as_draw_mode mode = AS_DRAW_BY_KIND;
    struct as_view word;
    if (as_timeline_query_text(r->query, "draw", &word))
        r->is_bad |= !as_draw_mode_read(word, &mode);
    return mode;
}

/* "1": codes, "2": numbers */
static int answer_tile(struct as_timeline_request *r)
{
    struct as_timeline_view v;
    as_timeline_query_view(r, &v);
    const enum as_draw_mode mode = query_draw_mode(r);
    if (r->is_bad || !r->metric)
        return r->is_bad ? 400 : 404;
    const bool is_code = r->metric->index.head->is_code;
    if (is_code && !as_timeline_draws_code(mode))
        return 400;
    const size_t element_b =
        is_code ? sizeof(struct as_timeline_shares) : sizeof(struct as_timeline_levels);
    void *tile = tile_room(r, &v, is_code ? 1 : 2, element_b);
    int rc = tile ? 0 : -1;
    if (tile && is_code)
        rc = as_timeline_draw_codes(&r->metric->index, &v, mode, tile);
    else if (tile)
        as_timeline_draw_levels(&r->metric->index, &v, tile);
    if (tile && !is_code && mode)
        rc = as_timeline_draw_mode_levels(&r->metric->index, &v, mode, tile);
    return end_tile(r, &v, tile, element_b, rc);
}

static int answer_events(struct as_timeline_request *r)
{
    struct as_timeline_view v;
    r->metric = NULL;
    as_timeline_query_view(r, &v);
    const int64_t type = as_timeline_query_number(r, "type", INT64_MIN, INT64_MIN, INT64_MAX);
    if (r->is_bad)
        return 400;
    uint16_t *tile = tile_room(r, &v, 3, sizeof *tile);
    if (tile)
        as_timeline_draw_events(as_timeline_query_records(r), &v, type, tile);
    return end_tile(r, &v, tile, sizeof *tile, tile ? 0 : -1);
}

/* Pieces with a value in [low, high) by pixel. */
static int answer_where(struct as_timeline_request *r)
{
    struct as_timeline_view v;
    struct as_quantity low, high;
    as_timeline_query_view(r, &v);
    const bool has_low = as_timeline_query_quantity(r, "low", &low);
    const bool has_high = as_timeline_query_quantity(r, "high", &high);
    if (r->is_bad || !has_low || !has_high)
        return 400;
    if (!r->metric || r->metric->index.head->is_code)
        return 404;
    uint16_t *tile = tile_room(r, &v, 3, sizeof *tile);
    if (tile)
        as_timeline_draw_range(&r->metric->index, &v, as_quantity_double(low),
                               as_quantity_double(high), tile);
    return end_tile(r, &v, tile, sizeof *tile, tile ? 0 : -1);
}

/* The number of all, then six doubles for each that is drawn. */
static int answer_messages(struct as_timeline_request *r)
{
    struct as_timeline_view v;
    struct as_timeline_picked picked = {0};
    r->metric = NULL;
    as_timeline_query_view(r, &v);
    const uint64_t max_n = (uint64_t)as_timeline_query_number(r, "most", 1000, 1, 100000);
    if (r->is_bad)
        return 400;
    int rc =
        as_timeline_pick_messages(as_timeline_query_records(r), v.from_ns, v.to_ns, max_n, &picked);
    const double head[2] = {(double)picked.total_n, (double)picked.message.n};
    as_str_append(r->body, (const char *)head, sizeof head);
    as_vec_foreach (&picked.message, m) {
        const double one[6] = {(double)m->send_ns, (double)m->receive_ns, m->sender,
                               m->receiver,        (double)m->size_b,     (double)m->tag};
        as_str_append(r->body, (const char *)one, sizeof one);
    }
    as_vec_fini(&picked.message);
    return rc < 0 ? 500 : 200;
}

/* ---- One moment -------------------------------------------------------------------------------
 */

static void write_value(struct as_timeline_request *r, const struct as_timeline_item *item)
{
    const struct as_timeline_index *index = as_timeline_query_index(r);
    const bool is_code = index->head->is_code;
    const double value = !is_code                            ? item->real
                         : item->code < index->head->codes_n ? index->code[item->code]
                                                             : NAN;
    as_json_key_double(&r->json, "value", value);
    write_label(r, "text", is_code && !isnan(value) ? value_label(r, r->metric, value) : NULL);
}

static void write_event(struct as_timeline_request *r, uint32_t row, int64_t type,
                        const struct as_timeline_item *item)
{
    as_json_object_begin(&r->json);
    as_json_key_u64(&r->json, "row", row);
    write_type(r, type);
    as_json_key_i64(&r->json, "ns", item->ns);
    as_json_key_i64(&r->json, "value", item->whole);
    write_label(r, "text", as_prv_pcf_label(&r->timeline->trace->labels, type, item->whole));
    as_json_object_end(&r->json);
}

/* The latest event of each type, as far as it is in the piece. */
static void write_events_at(struct as_timeline_request *r, uint32_t row, int64_t from_ns,
                            int64_t ns)
{
    const struct as_timeline_index *index = as_timeline_query_records(r);
    size_t at, end;
    as_timeline_range(index, AS_TIMELINE_EVENTS, row, &at, &end);
    as_json_key(&r->json, "events");
    as_json_array_begin(&r->json);
    for (; at < end; at++) {
        const uint64_t before = as_timeline_before(index, &index->series[at], ns + 1);
        int64_t end_ns;
        const struct as_timeline_item *item =
            before ? as_timeline_item_at(index, &index->series[at], before - 1, &end_ns) : NULL;
        if (item && item->ns >= from_ns)
            write_event(r, row, index->series[at].type, item);
    }
    as_json_array_end(&r->json);
}

static int answer_at(struct as_timeline_request *r)
{
    if (!r->metric)
        return 404;
    const struct as_timeline_index *index = as_timeline_query_index(r);
    const uint32_t row = (uint32_t)as_timeline_query_number(r, "row", 0, 0, UINT32_MAX);
    const int64_t ns = as_timeline_query_number(r, "ns", 0, 0, INT64_MAX - 1);
    const struct as_timeline_series *s = as_timeline_find(index, AS_TIMELINE_PIECES, row, 0);
    const uint64_t before = s ? as_timeline_before(index, s, ns + 1) : 0;
    int64_t end_ns = 0;
    const struct as_timeline_item *item =
        before ? as_timeline_item_at(index, s, before - 1, &end_ns) : NULL;
    if (r->is_bad)
        return 400;
    as_json_object_begin(&r->json);
    as_json_key_u64(&r->json, "row", row);
    if (item && ns < end_ns) {
        as_json_key_i64(&r->json, "begin_ns", item->ns);
        as_json_key_i64(&r->json, "end_ns", end_ns);
        write_value(r, item);
    }
    if (index->head->level == AS_OBJECT_LEVEL_THREAD)
        write_events_at(r, row, item ? item->ns : 0, ns);
    as_json_object_end(&r->json);
    return 200;
}

/* The next event of a type behind a time, or the one before it; of one row or of all. */
static int answer_next(struct as_timeline_request *r)
{
    struct as_timeline_found found = {0};
    const int64_t type = as_timeline_query_number(r, "type", INT64_MIN, INT64_MIN, INT64_MAX);
    const int64_t ns = as_timeline_query_number(r, "ns", -1, -1, INT64_MAX - 1);
    const int64_t row = as_timeline_query_number(r, "row", -1, -1, UINT32_MAX);
    const bool is_back = as_timeline_query_number(r, "back", 0, 0, 1) == 1;
    if (r->is_bad)
        return 400;
    as_json_object_begin(&r->json);
    if (as_timeline_next_event(as_timeline_query_records(r), type, row, ns, is_back, &found)) {
        as_json_key(&r->json, "event");
        write_event(r, found.row, found.type, found.item);
    }
    as_json_object_end(&r->json);
    return 200;
}

/* ---- Saving ------------------------------------------------------------------------------------
 */

/* The configuration of a metric, as a file of Paraver. */
static int answer_cfg(struct as_timeline_request *r)
{
    struct as_str text = {0};
    struct as_error err;
    if (!r->metric)
        return 404;
    const int rc = as_cfg_write(&r->metric->configuration, &text, &err);
    if (rc == 0)
        as_out_write(&r->out, as_str_z(&text), text.n);
    as_str_fini(&text);
    return rc == 0 ? 200 : 500;
}

/* ---- Requests ---------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    int (*answer)(struct as_timeline_request *r);
    const char *type;
} requests[] = {
    {"meta", answer_meta, TYPE_JSON},
    {"metric", answer_metric, TYPE_JSON},
    {"tile", answer_tile, TYPE_BYTES},
    {"events", answer_events, TYPE_BYTES},
    {"where", answer_where, TYPE_BYTES},
    {"messages", answer_messages, TYPE_BYTES},
    {"at", answer_at, TYPE_JSON},
    {"next", answer_next, TYPE_JSON},
    {"find", as_timeline_answer_find, TYPE_JSON},
    {"table", as_timeline_answer_table, TYPE_JSON},
    {"histogram", as_timeline_answer_histogram, TYPE_JSON},
    {"matrix", as_timeline_answer_matrix, TYPE_JSON},
    {"cfg", answer_cfg, TYPE_TEXT},
};

int as_timeline_answer(struct as_timeline_trace *timeline, struct as_view name,
                       struct as_view query, struct as_str *body, const char **type)
{
    struct as_timeline_request r = {.timeline = timeline, .query = query, .body = body};
    struct as_view metric;
    uint64_t touched_b = 0;
    int status = 404;
    if (as_timeline_query_text(query, "m", &metric))
        r.metric = as_timeline_metric_of(timeline, metric);
    if (r.metric && r.metric->state != AS_METRIC_READY)
        r.metric = NULL;
    as_timeline_bound_memory(as_timeline_query_index(&r), &touched_b, UINT32_MAX);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        if (!as_view_equal(name, as_view_of(requests[i].name)))
            continue;
        *type = requests[i].type;
        as_out_init_str(&r.out, body);
        as_json_init(&r.json, &r.out, 0);
        r.json.clean = true;
        status = requests[i].answer(&r);
        if (status == 200 && as_out_flush(&r.out, NULL) < 0)
            status = 500;
        as_out_fini(&r.out);
    }
    return body->failed ? 500 : status;
}
