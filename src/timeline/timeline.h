/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time line of one trace, as a browser asks for it: metrics by name, each with an index that is
 * made once, and answers to requests. doc/internals/timeline.md lists the requests. Not for several
 * threads; the index of a metric is made by a thread of its own.
 */
#ifndef AS_TIMELINE_TIMELINE_H
#define AS_TIMELINE_TIMELINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "semantic/ready.h"
#include "timeline/make.h"
#include "timeline/tile.h"

enum as_metric_state { AS_METRIC_MISSING, AS_METRIC_MAKING, AS_METRIC_READY, AS_METRIC_FAILED };

struct as_timeline_metric {
    const struct as_ready *ready; /* of the table, or `own` */
    struct as_ready *own;         /* of a file; with its texts in one block. NULL: none */
    struct as_configuration configuration;
    struct as_timeline_index index;
    enum as_metric_state state;
    struct as_error error; /* FAILED */
};

/* A metric that is being made. */
struct as_timeline_job {
    pthread_t thread;
    const char *trace;
    struct as_timeline_metric *metric;
    struct as_timeline_identity of;
    struct as_str path;
    atomic_uint_least64_t lines_n;
    atomic_bool is_over;
    int rc;
    struct as_error error;
};

struct as_timeline_trace {
    const struct as_evaluated *trace; /* borrowed */
    const char *title;                /* borrowed */
    char folder[4096];                /* of the index files */
    bool is_temporary;                /* the folder is removed at the end */
    bool has_report;                  /* the page of a report is served beside it */
    bool verifies;                    /* an index must be of `text_digest` */
    uint64_t text_digest;             /* of the whole trace, if `verifies` */
    struct as_error remade; /* why an index was made anew by `verifies`; text "": none was */
    AS_VEC(struct as_timeline_metric) metric; /* the first has the states, and the records */
    struct as_timeline_job job;
    bool has_job;
};

struct as_timeline_options {
    const char *title;  /* borrowed */
    char *const *files; /* configurations of the user; borrowed */
    size_t files_n;
    bool is_temporary; /* the trace is: its index is removed at the end */
    bool has_report;
    bool verifies; /* digests the whole trace before an index is used */
    void (*on_step)(void *context, uint64_t lines_n); /* lines of the trace; may be NULL */
    void *context;
};

/* Opens the index of the records, or makes it. `trace` is borrowed. Errors: those of making, and of
 * reading configurations; USAGE (one with tables, two of one name). */
int as_timeline_open(struct as_evaluated *trace, const struct as_timeline_options *options,
                     struct as_timeline_trace *out, struct as_error *err);
void as_timeline_close(struct as_timeline_trace *timeline);

/* The metric of a name, or NULL. */
struct as_timeline_metric *as_timeline_metric_of(struct as_timeline_trace *timeline,
                                                 struct as_view name);
/* Begins to make the index of a metric where it is missing; looks whether it is there by now. */
void as_timeline_want(struct as_timeline_trace *timeline, struct as_timeline_metric *metric);
/* Lines that were read for the metric that is being made; 0: none is. */
uint64_t as_timeline_lines(const struct as_timeline_trace *timeline);

/*
 * The answer to "NAME?QUERY": a status of HTTP (200, 400, 404, 500), the body and its type, a
 * constant. Appends to `body`.
 */
int as_timeline_answer(struct as_timeline_trace *timeline, struct as_view name,
                       struct as_view query, struct as_str *body, const char **type);

#endif
