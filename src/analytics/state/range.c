/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/state/range.h"

#include <string.h>

#include "analytics/state/interest.h"
#include "base/error.h"
#include "base/nearest.h"

static struct as_span span_of_trace(const struct as_trace *trace)
{
    struct as_span span = {.begin_ns = INT64_MAX, .end_ns = INT64_MIN};
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->thread, stream) {
            const struct as_trace_stream_facts *f = as_trace_stream_facts(*stream);
            span.begin_ns = f->begin_raw_ns < span.begin_ns ? f->begin_raw_ns : span.begin_ns;
            span.end_ns = f->end_raw_ns > span.end_ns ? f->end_raw_ns : span.end_ns;
        }
    return span;
}

/* ---- Calls of regions ------------------------------------------------------------------------ */

struct region_search {
    const struct as_range_edge *edge;
    bool is_end;
    bool is_found;
    uint64_t calls_max; /* of a process */
    int64_t ns;
};

static bool is_the_region(const struct as_trace_process *process, int64_t name,
                          const struct region_search *search)
{
    const struct as_trace_name known = as_trace_name_of(process, name);
    return known.group == AS_TRACE_OF_USER && known.text &&
           strcmp(known.text, search->edge->region) == 0;
}

/* An outermost call is entered or left. */
static void note_edge(struct region_search *search, uint64_t call, bool is_leave, int64_t ns)
{
    const uint64_t wanted = search->edge->call;
    search->calls_max = call > search->calls_max ? call : search->calls_max;
    if (is_leave != search->is_end || (wanted && call != wanted))
        return;
    if (!search->is_found || (search->is_end ? ns > search->ns : ns < search->ns))
        search->ns = ns;
    search->is_found = true;
}

static int search_process(const struct as_trace_process *process, struct region_search *search,
                          struct as_error *err)
{
    struct as_trace_stream *stream = process->thread.at[0];
    struct as_trace_event event;
    uint64_t calls_n = 0;
    uint32_t depth = 0;
    int rc;
    AS_TRY(as_trace_stream_seek(stream, INT64_MIN, err));
    while ((rc = as_trace_stream_next(stream, &event, err)) > 0) {
        if ((event.kind != AS_TRACE_ENTER && event.kind != AS_TRACE_LEAVE) ||
            !is_the_region(process, event.name, search))
            continue;
        if (event.kind == AS_TRACE_ENTER && depth++ == 0)
            note_edge(search, ++calls_n, false, event.raw_ns);
        else if (event.kind == AS_TRACE_LEAVE && depth > 0 && --depth == 0)
            note_edge(search, calls_n, true, event.raw_ns);
    }
    return rc < 0 ? rc : as_trace_stream_seek(stream, INT64_MIN, err);
}

/* Sets an error with the region of the trace that has the nearest name. */
static int report_region(const struct as_trace *trace, const struct region_search *search,
                         struct as_error *err)
{
    const char *option = search->is_end ? "--to" : "--from";
    const char *region = search->edge->region;
    struct as_nearest nearest;
    if (search->calls_max)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: the region %s has %llu calls, not %llu; use a lower number",
                            option, region, (unsigned long long)search->calls_max,
                            (unsigned long long)search->edge->call);
    as_nearest_init(&nearest, region, strlen(region));
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->name, name)
            if (name->group == AS_TRACE_OF_USER && name->text)
                as_nearest_offer(&nearest, name->text);
    if (nearest.best)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: the trace has no region '%s'; did you mean %s?", option, region,
                            nearest.best);
    return as_error_set(err, AS_ERR_NOT_FOUND,
                        "%s: the trace has no region '%s'; use a time, such as 1.5s, or record "
                        "regions of <assay/assay.h>",
                        option, region);
}

static int find_edge(const struct as_trace *trace, const struct as_range_edge *edge, bool is_end,
                     const struct as_span *all, int64_t *out, struct as_error *err)
{
    struct region_search search = {.edge = edge, .is_end = is_end};
    *out = is_end ? INT64_MAX : all->begin_ns; /* killed threads end later than they say */
    if (edge->kind == AS_RANGE_OPEN)
        return 0;
    if (edge->kind == AS_RANGE_TIME) {
        *out = all->begin_ns + edge->ns;
        return 0;
    }
    as_vec_foreach (&trace->process, process)
        if (process->thread.n)
            AS_TRY(search_process(process, &search, err));
    if (!search.is_found)
        return report_region(trace, &search, err);
    *out = search.ns;
    return 0;
}

int as_range_find(const struct as_trace *trace, const struct as_range_wanted *wanted,
                  struct as_span *out, struct as_error *err)
{
    const struct as_span all = span_of_trace(trace);
    *out = AS_INTEREST_ALL;
    if ((wanted->from.kind == AS_RANGE_OPEN && wanted->to.kind == AS_RANGE_OPEN) ||
        all.begin_ns > all.end_ns)
        return 0;
    AS_TRY(find_edge(trace, &wanted->from, false, &all, &out->begin_ns, err));
    AS_TRY(find_edge(trace, &wanted->to, true, &all, &out->end_ns, err));
    return out->begin_ns < out->end_ns ? 0 : as_range_empty(all.end_ns - all.begin_ns, err);
}

int as_range_empty(int64_t trace_ns, struct as_error *err)
{
    return as_error_set(err, AS_ERR_NOT_FOUND,
                        "--from, --to: no time of the trace, which lasts %.3f s, lies between; use "
                        "an earlier --from or a later --to",
                        (double)trace_ns / 1e9);
}
