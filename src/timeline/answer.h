/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files that answer requests. */
#ifndef AS_TIMELINE_ANSWER_H
#define AS_TIMELINE_ANSWER_H

#include "base/json.h"
#include "timeline/timeline.h"

struct as_timeline_request {
    struct as_timeline_trace *timeline;
    struct as_view query;
    struct as_timeline_metric *metric; /* ready; NULL: not yet */
    bool is_bad;
    struct as_str *body;
    struct as_out out; /* to body */
    struct as_json json;
};

/* ---- answer_query.c ---- */
bool as_timeline_query_text(struct as_view query, const char *key, struct as_view *out);
/* A number from `min` to `max`, or the default; else the request is bad. */
int64_t as_timeline_query_number(struct as_timeline_request *r, const char *key, int64_t otherwise,
                                 int64_t min, int64_t max);
/* A decimal number; false: none is given. */
bool as_timeline_query_quantity(struct as_timeline_request *r, const char *key,
                                struct as_quantity *out);
/* The span, rows and pixels of a request; all of the trace without them. */
void as_timeline_query_view(struct as_timeline_request *r, struct as_timeline_view *v);
/* The index of the states; of the metric, or else of the states. */
const struct as_timeline_index *as_timeline_query_records(const struct as_timeline_request *r);
const struct as_timeline_index *as_timeline_query_index(const struct as_timeline_request *r);

/* ---- answer_tables.c: each returns a status of HTTP ---- */
int as_timeline_answer_find(struct as_timeline_request *r);
int as_timeline_answer_table(struct as_timeline_request *r);
int as_timeline_answer_histogram(struct as_timeline_request *r);
int as_timeline_answer_matrix(struct as_timeline_request *r);

#endif
