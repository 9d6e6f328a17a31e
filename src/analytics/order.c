/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of many threads as one, in order of time: a heap of their next events.
 */
#include "analytics/walking.h"
#include "base/error.h"

struct source {
    struct as_trace_stream *stream;
    struct as_trace_event event; /* the next */
};

/* Beside each other: to sink one looks at no source. */
struct next_event {
    int64_t ns;
    uint32_t location, source;
};

static bool is_earlier(const struct next_event *a, const struct next_event *b)
{
    return a->ns != b->ns ? a->ns < b->ns : a->location < b->location;
}

static void sink_source(struct next_event *heap, size_t n, size_t at)
{
    const struct next_event moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_earlier(&heap[child + 1], &heap[child]))
            child++;
        if (!is_earlier(&heap[child], &moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static int gather_sources(const struct as_trace *trace, const bool *is_left_out,
                          struct source *source, struct next_event *heap, size_t *n,
                          struct assay_error *err)
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
                heap[*n] = (struct next_event){s->event.raw_ns, location, (uint32_t)*n};
                (*n)++;
            }
        }
    for (size_t i = *n; i-- > 0;)
        sink_source(heap, *n, i);
    return 0;
}

static int empty_heap(struct source *source, struct next_event *heap, size_t n, as_walk_event *each,
                      void *context, struct assay_error *err)
{
    while (n) {
        struct source *first = &source[heap[0].source];
        AS_TRY(each(context, heap[0].location, &first->event));
        const int rc = as_trace_stream_next(first->stream, &first->event, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            heap[0] = heap[--n];
        else
            heap[0].ns = first->event.raw_ns;
        sink_source(heap, n, 0);
    }
    return 0;
}

int as_walk_in_order(const struct as_trace *trace, const bool *is_left_out, as_walk_event *each,
                     void *context, struct assay_error *err)
{
    size_t most = 1, n = 0;
    as_vec_foreach (&trace->process, process)
        most += process->thread.n;
    struct source *source = as_calloc(most, sizeof *source);
    struct next_event *heap = as_calloc(most, sizeof *heap);
    int rc = source && heap ? 0 : as_error_nomem(err, "the streams of a trace");
    if (rc == 0)
        rc = gather_sources(trace, is_left_out, source, heap, &n, err);
    if (rc == 0)
        rc = empty_heap(source, heap, n, each, context, err);
    as_free(source);
    as_free(heap);
    return rc;
}
