/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of many threads as one, in order of time: a heap of their next events.
 */
#include "analytics/walking.h"
#include "base/error.h"

struct source {
    int64_t next_ns;
    uint32_t process, thread;
    struct as_trace_stream *stream;
    struct as_trace_event event; /* the next */
};

static bool is_earlier(const struct source *a, const struct source *b)
{
    if (a->next_ns != b->next_ns)
        return a->next_ns < b->next_ns;
    return a->process != b->process ? a->process < b->process : a->thread < b->thread;
}

static void sink_source(struct source **heap, size_t n, size_t at)
{
    struct source *moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_earlier(heap[child + 1], heap[child]))
            child++;
        if (!is_earlier(heap[child], moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static int fetch_next(struct source *source, struct assay_error *err)
{
    int rc = as_trace_stream_next(source->stream, &source->event, err);
    source->next_ns = source->event.raw_ns;
    return rc;
}

static int gather_sources(const struct as_trace *trace, const bool *is_left_out,
                          struct source *source, struct source **heap, size_t *n,
                          struct assay_error *err)
{
    for (uint32_t p = 0; p < trace->process.n; p++)
        for (uint32_t t = 0; t < trace->process.at[p].thread.n; t++) {
            if (is_left_out && is_left_out[p])
                continue;
            struct source *s = &source[*n];
            *s = (struct source){
                .process = p, .thread = t, .stream = trace->process.at[p].thread.at[t]};
            AS_TRY(as_trace_stream_seek(s->stream, INT64_MIN, err));
            int rc = fetch_next(s, err);
            if (rc < 0)
                return rc;
            if (rc > 0)
                heap[(*n)++] = s;
        }
    for (size_t i = *n; i-- > 0;)
        sink_source(heap, *n, i);
    return 0;
}

static int empty_heap(struct source **heap, size_t n, as_walk_event *each, void *context,
                      struct assay_error *err)
{
    while (n) {
        struct source *first = heap[0];
        AS_TRY(each(context, first->process, first->thread, &first->event));
        int rc = fetch_next(first, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            heap[0] = heap[--n];
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
    struct source **heap = as_calloc(most, sizeof *heap);
    int rc = source && heap ? 0 : as_error_nomem(err, "the streams of a trace");
    if (rc == 0)
        rc = gather_sources(trace, is_left_out, source, heap, &n, err);
    if (rc == 0)
        rc = empty_heap(heap, n, each, context, err);
    as_free(source);
    as_free(heap);
    return rc;
}
