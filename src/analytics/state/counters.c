/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/state/counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static struct as_counter_range *find_counter(struct as_counters *counters, uint32_t location,
                                             int64_t name)
{
    uint32_t at;
    for (struct as_probe probe =
             as_index_probe(&counters->index, as_hash_mix(location, (uint64_t)name));
         (at = as_index_next(&counters->index, &probe)) != AS_INDEX_NONE;)
        if (counters->range.at[at].location == location && counters->range.at[at].name == name)
            return &counters->range.at[at];
    return NULL;
}

static int new_counter(struct as_counters *counters, const struct as_trace_process *process,
                       uint32_t location, const struct as_trace_event *event,
                       struct as_counter_range **out)
{
    const char *text = process ? as_trace_name_of(process, event->name).text : NULL;
    const int64_t value = event->counter.value;
    const struct as_counter_range range = {.location = location,
                                           .name = event->name,
                                           .text = text ? text : "?",
                                           .first = value,
                                           .order = (uint32_t)counters->range.n,
                                           .least = value,
                                           .most = value,
                                           .every = 1};
    AS_TRY(as_vec_push(&counters->range, range));
    *out = &counters->range.at[counters->range.n - 1];
    return as_index_add(&counters->index, as_hash_mix(location, (uint64_t)event->name),
                        (uint32_t)(counters->range.n - 1));
}

/* Adds a reading. A full list drops every second point. */
static int add_counter_point(struct as_counter_range *range, int64_t ns, int64_t value)
{
    if ((range->n - 1) % range->every != 0)
        return 0;
    if (range->point.n == AS_COUNTER_POINTS_MOST) {
        for (size_t i = 0; i < AS_COUNTER_POINTS_MOST / 2; i++)
            range->point.at[i] = range->point.at[2 * i];
        range->point.n = AS_COUNTER_POINTS_MOST / 2;
        range->every *= 2;
    }
    return as_vec_push(&range->point, ((struct as_counter_point){ns, value}));
}

int as_counters_event(struct as_counters *counters, const struct as_trace_process *process,
                      uint32_t location, const struct as_trace_event *event)
{
    if (event->kind != AS_TRACE_COUNTER)
        return 0;
    const int64_t value = event->counter.value;
    struct as_counter_range *range = find_counter(counters, location, event->name);
    if (!range)
        AS_TRY(new_counter(counters, process, location, event, &range));
    if (range->n && location < counters->before.n &&
        counters->before.at[location].end_ns == event->raw_ns &&
        counters->before.at[location].activity == AS_ACTIVITY_COMPUTING)
        range->computing += value - range->last;
    range->n++;
    range->last = value;
    range->last_ns = event->raw_ns;
    range->least = value < range->least ? value : range->least;
    range->most = value > range->most ? value : range->most;
    return add_counter_point(range, event->raw_ns, value);
}

int as_counters_stretch(struct as_counters *counters, uint32_t location, enum as_activity activity,
                        int64_t end_ns)
{
    while (counters->before.n <= location)
        AS_TRY(as_vec_push(&counters->before,
                           ((struct as_counter_before){AS_ACTIVITY_OFF, INT64_MIN})));
    counters->before.at[location] = (struct as_counter_before){activity, end_ns};
    return 0;
}

static int by_location(const void *a, const void *b)
{
    const struct as_counter_range *x = a, *y = b;
    return x->location != y->location ? (x->location < y->location ? -1 : 1)
           : x->order != y->order     ? (x->order < y->order ? -1 : 1)
                                      : 0;
}

void as_counters_sort(struct as_counters *counters)
{
    if (counters->range.n > 1)
        qsort(counters->range.at, counters->range.n, sizeof *counters->range.at, by_location);
    as_index_fini(&counters->index);
}

void as_counters_fini(struct as_counters *counters)
{
    as_vec_foreach (&counters->range, range)
        as_vec_fini(&range->point);
    as_vec_fini(&counters->range);
    as_vec_fini(&counters->before);
    as_index_fini(&counters->index);
}

/* Counters have no unit in traces: ours that are bytes say so in their names. */
const char *as_counter_unit(const struct as_counter_range *range)
{
    return strstr(range->text, "bytes") ? "B" : "1";
}

void as_counter_bins(const struct as_counter_range *range, const struct as_timeline *timeline,
                     struct as_str *out)
{
    size_t next = 0;
    as_str_clear(out);
    const int64_t bin_ns = as_timeline_bin_ns(timeline, AS_TIMELINE_SHOWN);
    for (uint32_t bin = 0; bin < timeline->bin_n >> AS_TIMELINE_SHOWN; bin++) {
        const int64_t begin_ns = timeline->begin_ns + (int64_t)bin * bin_ns;
        const int64_t end_ns = begin_ns + bin_ns;
        while (next < range->point.n && range->point.at[next].ns < end_ns)
            next++;
        as_str_appendz(out, bin ? "," : "[");
        if (range->last_ns < end_ns) {
            as_str_appendf(out, "%lld", (long long)range->last);
            break;
        }
        if (next)
            as_str_appendf(out, "%lld", (long long)range->point.at[next - 1].value);
        else
            as_str_appendz(out, "null");
    }
    as_str_appendz(out, "]");
}
