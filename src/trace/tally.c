/* SPDX-License-Identifier: Apache-2.0 */
/* Adding up a trace, thread by thread; see tally.h. */
#include "trace/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"

/* A routine that was entered. */
struct frame {
    int64_t name, since_ns;
    size_t sum;
    int64_t inside_ns, longest_ns; /* of one that stands for many; 0: it does not */
};

struct adding {
    struct as_trace_tally *out;
    const struct as_trace_process *process;
    uint32_t tid;
    struct as_map_u64 known; /* name -> index of its sum */
    AS_VEC(struct frame) frame;
};

/* The sum of a name in this thread; SIZE_MAX: no memory. */
static size_t sum_of_name(struct adding *a, int64_t name)
{
    const uint32_t found = as_map_u64_get(&a->known, (uint64_t)name);
    if (found != AS_MAP_NONE)
        return found;
    const struct as_trace_sum sum = {
        .process = a->process, .tid = a->tid, .name = as_trace_name_of(a->process, name)};
    const size_t at = a->out->sum.n;
    if (as_map_u64_put(&a->known, (uint64_t)name, (uint32_t)at) < 0 ||
        as_vec_push(&a->out->sum, sum) < 0)
        return SIZE_MAX;
    return at;
}

static int enter_name(struct adding *a, const struct as_trace_event *e)
{
    const size_t sum = sum_of_name(a, e->name);
    const struct frame frame = {.name = e->name, .since_ns = e->raw_ns, .sum = sum};
    if (sum == SIZE_MAX || as_vec_push(&a->frame, frame) < 0)
        return ASSAY_ERR_NOMEM;
    a->out->sum.at[sum].calls_n++;
    return 0;
}

/* Regions may overlap: the innermost of that name ends. */
static void leave_name(struct adding *a, const struct as_trace_event *e)
{
    size_t i = a->frame.n;
    while (i > 0 && a->frame.at[i - 1].name != e->name)
        i--;
    if (i == 0) {
        a->out->unmatched_n++;
        return;
    }
    const struct frame frame = a->frame.at[i - 1];
    memmove(a->frame.at + i - 1, a->frame.at + i, (a->frame.n - i) * sizeof frame);
    a->frame.n--;
    bool outer = true;
    as_vec_foreach (&a->frame, it)
        outer &= it->name != e->name;
    struct as_trace_sum *sum = &a->out->sum.at[frame.sum];
    const int64_t took_ns = e->raw_ns - frame.since_ns;
    const int64_t longest_ns = frame.longest_ns ? frame.longest_ns : took_ns;
    if (outer)
        sum->time_ns += frame.inside_ns && frame.inside_ns < took_ns ? frame.inside_ns : took_ns;
    sum->most_ns = longest_ns > sum->most_ns ? longest_ns : sum->most_ns;
}

static void repeat_name(struct adding *a, const struct as_trace_event *e)
{
    if (a->frame.n == 0 || e->repeated.calls < 1)
        return;
    struct frame *frame = &a->frame.at[a->frame.n - 1];
    a->out->sum.at[frame->sum].calls_n += (uint64_t)e->repeated.calls - 1;
    frame->inside_ns = e->repeated.inside_ns;
    frame->longest_ns = e->repeated.longest_ns;
}

static void add_bytes(struct adding *a, int64_t sent_b, int64_t received_b)
{
    if (a->frame.n == 0)
        return;
    struct as_trace_sum *sum = &a->out->sum.at[a->frame.at[a->frame.n - 1].sum];
    sum->sent_b += sent_b > 0 ? sent_b : 0;
    sum->received_b += received_b > 0 ? received_b : 0;
}

static int add_event(struct adding *a, const struct as_trace_event *e)
{
    a->out->events_n++;
    switch (e->kind) {
    case AS_TRACE_ENTER:
        return enter_name(a, e);
    case AS_TRACE_LEAVE:
        leave_name(a, e);
        return 0;
    case AS_TRACE_SEND:
        if (!(e->message.bits & AS_TRACE_PERSISTENT))
            add_bytes(a, e->message.size_b, 0);
        return 0;
    case AS_TRACE_RECEIVE:
        add_bytes(a, 0, e->message.size_b);
        return 0;
    case AS_TRACE_COLLECTIVE:
        add_bytes(a, e->collective.sent_b, e->collective.received_b);
        return 0;
    case AS_TRACE_IO:
        add_bytes(a, e->io.way == AS_TRACE_IS_WRITTEN ? e->io.size_b : 0,
                  e->io.way == AS_TRACE_IS_WRITTEN ? 0 : e->io.size_b);
        return 0;
    case AS_TRACE_REPEATED:
        repeat_name(a, e);
        return 0;
    default:
        return 0;
    }
}

static int add_stream(struct as_trace_tally *out, const struct as_trace_process *process,
                      struct as_trace_stream *stream, struct assay_error *err)
{
    struct adding a = {.out = out, .process = process};
    as_map_u64_init(&a.known);
    struct as_trace_event event;
    int rc, added = 0;
    a.tid = as_trace_stream_facts(stream)->tid;
    AS_TRY(as_trace_stream_seek(stream, INT64_MIN, err));
    while (added == 0 && (rc = as_trace_stream_next(stream, &event, err)) > 0)
        added = add_event(&a, &event);
    as_vec_foreach (&a.frame, frame)
        out->sum.at[frame->sum].open_n++;
    out->lost_n += as_trace_stream_facts(stream)->lost_n;
    out->damaged_n += as_trace_stream_facts(stream)->damaged_n;
    as_map_u64_fini(&a.known);
    as_vec_fini(&a.frame);
    return added < 0 ? as_error_nomem(err, "the sums of a trace") : rc;
}

static int by_time(const void *a, const void *b)
{
    const struct as_trace_sum *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -1 : 1;
    return strcmp(x->name.text, y->name.text);
}

int as_trace_tally_of(const struct as_trace *trace, struct as_trace_tally *out,
                      struct assay_error *err)
{
    int rc = 0;
    *out = (struct as_trace_tally){.damaged_n = trace->damaged_n};
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->thread, stream) {
            const size_t first = out->sum.n;
            if (rc == 0)
                rc = add_stream(out, process, *stream, err);
            if (out->sum.n > first + 1)
                qsort(out->sum.at + first, out->sum.n - first, sizeof *out->sum.at, by_time);
        }
    if (rc < 0)
        as_trace_tally_fini(out);
    return rc;
}

void as_trace_tally_fini(struct as_trace_tally *tally)
{
    as_vec_fini(&tally->sum);
}
