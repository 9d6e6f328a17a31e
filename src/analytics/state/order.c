/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of many threads as one, in order of time.
 */
#include "analytics/state/walking.h"
#include "base/error.h"
#include "base/losers.h"

struct source {
    struct as_trace_stream *stream;
    struct as_trace_event event; /* the next */
    uint32_t location;
};

/* Streams without an event end at once. */
struct walk_target {
    as_walk_event *each;
    void *context;
};

static int collect_order_sources(const struct as_trace *trace, const bool *is_left_out,
                                 struct source *source, struct as_loser *next, size_t *n,
                                 const struct walk_target *to, struct as_error *err)
{
    uint32_t location = 0;
    for (uint32_t p = 0; p < trace->process.n; p++)
        for (uint32_t t = 0; t < trace->process.at[p].thread.n; t++, location++) {
            if (is_left_out && is_left_out[p])
                continue;
            struct source *s = &source[*n];
            s->stream = trace->process.at[p].thread.at[t];
            AS_TRY(as_trace_stream_seek(s->stream, INT64_MIN, err));
            const int rc = as_trace_stream_next(s->stream, &s->event, err);
            if (rc < 0)
                return rc;
            if (rc > 0) {
                s->location = location;
                next[*n] = (struct as_loser){.ns = s->event.raw_ns, .order = location};
                (*n)++;
            } else {
                AS_TRY(to->each(to->context, location, NULL));
            }
        }
    return 0;
}

static int walk_sources(struct source *source, struct as_losers *next, as_walk_event *each,
                        void *context, struct as_error *err)
{
    while (!as_losers_are_over(next)) {
        struct source *first = &source[as_losers_first(next)->leaf];
        const int64_t ns = first->event.raw_ns;
        AS_TRY(each(context, first->location, &first->event));
        const int rc = as_trace_stream_next(first->stream, &first->event, err);
        if (rc < 0)
            return rc;
        if (rc == 0) {
            as_losers_end(next);
            AS_TRY(each(context, first->location, NULL));
        } else if (first->event.raw_ns != ns) { /* many records of a call have its time */
            as_losers_next(next, first->event.raw_ns, first->location);
        }
    }
    return 0;
}

int as_walk_in_order(const struct as_trace *trace, const bool *is_left_out, as_walk_event *each,
                     void *context, struct as_error *err)
{
    size_t most = 1, n = 0;
    struct as_losers next = {0};
    as_vec_foreach (&trace->process, process)
        most += process->thread.n;
    struct source *source = as_calloc(most, sizeof *source);
    struct as_loser *first = as_calloc(most, sizeof *first);
    int rc = source && first ? 0 : as_error_nomem(err, "the streams of a trace");
    if (rc == 0)
        rc = collect_order_sources(trace, is_left_out, source, first, &n,
                                   &(const struct walk_target){each, context}, err);
    if (rc == 0 && as_losers_init(&next, first, n) < 0)
        rc = as_error_nomem(err, "the streams of a trace");
    if (rc == 0)
        rc = walk_sources(source, &next, each, context, err);
    as_losers_fini(&next);
    as_free(source);
    as_free(first);
    return rc;
}
