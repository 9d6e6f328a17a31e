/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of a trace: totals, and values over time, per thread. Memory is bounded: of many
 * readings a limited number is kept, at equal distances.
 */
#ifndef AS_ANALYTICS_COUNTERS_H
#define AS_ANALYTICS_COUNTERS_H

#include "analytics/state/timeline.h"
#include "base/index.h"
#include "base/str.h"

#define AS_COUNTER_POINTS_MOST 512u /* of one counter of one thread */

struct as_counter_point {
    int64_t ns, value;
};

/* The readings of one counter by one thread. */
struct as_counter_range {
    uint32_t location, order; /* `order`: rank among all ranges, by the first reading */
    int64_t name;             /* number of its name in the process */
    const char *text;
    uint64_t n;
    int64_t first, last, least, most;
    int64_t computing; /* growth while the thread computed, between the readings that show it */
    int64_t last_ns;
    AS_VEC(struct as_counter_point) point; /* every `every`-th reading */
    uint64_t every;
};

/* The activity that a thread ended last. */
struct as_counter_before {
    enum as_activity activity;
    int64_t end_ns;
};

struct as_counters {
    AS_VEC(struct as_counter_before) before; /* by trace thread */
    AS_VEC(struct as_counter_range) range;   /* by first reading; later by thread */
    struct as_index index;
};

/* Receives an event of any kind. `process` has the names of counters; NULL: names are not needed.
 * Returns 0 or AS_ERR_NOMEM. */
int as_counters_event(struct as_counters *counters, const struct as_trace_process *process,
                      uint32_t location, const struct as_trace_event *event);
/* Receives the end of an activity: a reading at `end_ns` counts for it. Returns 0 or
 * AS_ERR_NOMEM. */
int as_counters_stretch(struct as_counters *counters, uint32_t location, enum as_activity activity,
                        int64_t end_ns);
/* Sorts the ranges by thread after the last event. Readings cannot be added any more. */
void as_counters_sort(struct as_counters *counters);
void as_counters_fini(struct as_counters *counters);

/* Returns "B" if the name says that the counter counts bytes, else "1". */
const char *as_counter_unit(const struct as_counter_range *range);
/* Appends a JSON list with the latest value at the end of each bin of the time line. The list ends
 * with the bin of the last reading. null stands for bins before the first reading. */
void as_counter_bins(const struct as_counter_range *range, const struct as_timeline *timeline,
                     struct as_str *out);

#endif
