/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The region of interest of efficiencies: from the first rank that leaves MPI_Init to the last that
 * enters MPI_Finalize. Start and end of a run are not work of the program. Both calls stand near an
 * end of a stream, so that few blocks are read.
 */
#include "analytics/state/interest.h"

#include <strings.h>

#include "base/error.h"

#define EVENTS_MAX  (UINT64_C(1) << 16) /* that are looked at in one thread */
#define FIRST_NS    INT64_C(1000000)
#define NEXT_FACTOR 16

static bool is_init(const char *text)
{
    return strcasecmp(text, "MPI_Init") == 0 || strcasecmp(text, "MPI_Init_thread") == 0;
}

static bool is_finalize(const char *text)
{
    return strcasecmp(text, "MPI_Finalize") == 0;
}

/* Looks for a record of a call from here on: 1 found, 0 not. `*is_over`: the stream ended. */
static int find_call(const struct as_trace_process *process, struct as_trace_stream *stream,
                     enum as_trace_kind kind, bool (*wants)(const char *), int64_t *ns,
                     bool *is_over, struct as_error *err)
{
    struct as_trace_event event;
    int rc = 1;
    *is_over = false;
    for (uint64_t n = 0; n < EVENTS_MAX && (rc = as_trace_stream_next(stream, &event, err)) > 0;
         n++)
        if (event.kind == kind && wants(as_trace_name_of(process, event.name).text)) {
            *ns = event.raw_ns;
            return 1;
        }
    *is_over = rc == 0;
    return rc < 0 ? rc : 0;
}

static int find_begin(const struct as_trace_process *process, struct as_trace_stream *stream,
                      int64_t *ns, struct as_error *err)
{
    bool is_over;
    AS_TRY(as_trace_stream_seek(stream, INT64_MIN, err));
    return find_call(process, stream, AS_TRACE_LEAVE, is_init, ns, &is_over, err);
}

/* From the end backwards, in steps that grow. */
static int find_end(const struct as_trace_process *process, struct as_trace_stream *stream,
                    int64_t *ns, struct as_error *err)
{
    const struct as_trace_stream_facts *facts = as_trace_stream_facts(stream);
    int64_t step_ns = FIRST_NS;
    bool is_over = true, is_whole = false;
    int rc = 0;
    for (; rc == 0 && is_over && !is_whole; step_ns *= NEXT_FACTOR) {
        is_whole = step_ns >= facts->end_raw_ns - facts->begin_raw_ns;
        AS_TRY(
            as_trace_stream_seek(stream, is_whole ? INT64_MIN : facts->end_raw_ns - step_ns, err));
        rc = find_call(process, stream, AS_TRACE_ENTER, is_finalize, ns, &is_over, err);
    }
    return rc;
}

typedef int find_one(const struct as_trace_process *process, struct as_trace_stream *stream,
                     int64_t *ns, struct as_error *err);

/* Any thread of a rank may call them. */
static int find_in_rank(const struct as_trace_process *process, find_one *find, int64_t *ns,
                        struct as_error *err)
{
    int rc = 0;
    as_vec_foreach (&process->thread, stream) {
        if (rc == 0)
            rc = find(process, *stream, ns, err);
        AS_TRY(as_trace_stream_seek(*stream, INT64_MIN, err));
    }
    return rc;
}

int as_interest_find(const struct as_trace *trace, struct as_span *out, struct as_error *err)
{
    struct as_span span = {.begin_ns = INT64_MAX, .end_ns = INT64_MIN};
    *out = AS_INTEREST_ALL;
    as_vec_foreach (&trace->process, process) {
        int64_t begin_ns = 0, end_ns = 0;
        if (process->rank < 0)
            continue;
        int rc = find_in_rank(process, find_begin, &begin_ns, err);
        if (rc > 0)
            rc = find_in_rank(process, find_end, &end_ns, err);
        if (rc < 0)
            return rc;
        if (rc == 0) /* one that does not say so: killed, or an imported part */
            return 0;
        span.begin_ns = begin_ns < span.begin_ns ? begin_ns : span.begin_ns;
        span.end_ns = end_ns > span.end_ns ? end_ns : span.end_ns;
    }
    if (span.begin_ns < span.end_ns)
        *out = span;
    return 0;
}
