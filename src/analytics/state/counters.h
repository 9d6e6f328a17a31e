/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads read of counters: how much of it there was, and how it went over time. Memory is
 * bounded: of many readings so many are kept, as far from each other as they can be.
 */
#ifndef AS_ANALYTICS_COUNTERS_H
#define AS_ANALYTICS_COUNTERS_H

#include "analytics/state/timeline.h"
#include "base/index.h"
#include "base/str.h"

#define AS_COUNTER_POINTS_MOST 512u /* of one */

struct as_counter_point {
    int64_t ns, value;
};

/* What a thread read of a counter. */
struct as_counter_range {
    uint32_t location, order; /* among all, by its first reading */
    int64_t name;             /* of its process */
    const char *text;
    uint64_t n;
    int64_t first, last, least, most;
    int64_t computing; /* by how much it grew while the thread computed, as far as readings tell */
    int64_t last_ns;
    AS_VEC(struct as_counter_point) point; /* every so many-th of its readings */
    uint64_t every;
};

/* The activity that a thread ended last. */
struct as_counter_before {
    enum as_activity activity;
    int64_t end_ns;
};

struct as_counters {
    AS_VEC(struct as_counter_before) before; /* by thread of the trace */
    AS_VEC(struct as_counter_range) range;   /* by thread, in order of their first readings */
    struct as_index index;
};

/* An event of any kind; `process` says what counters are called, NULL: nobody does. 0 or
 * ASSAY_ERR_NOMEM. */
int as_counters_event(struct as_counters *counters, const struct as_trace_process *process,
                      uint32_t location, const struct as_trace_event *event);
/* A thread did that until then: a reading at that time counts for it. 0 or ASSAY_ERR_NOMEM. */
int as_counters_stretch(struct as_counters *counters, uint32_t location, enum as_activity activity,
                        int64_t end_ns);
/* When all are read: by thread. They are found no more then. */
void as_counters_sort(struct as_counters *counters);
void as_counters_fini(struct as_counters *counters);

/* "B" where its name says that it counts bytes, else "1". */
const char *as_counter_unit(const struct as_counter_range *range);
/* The latest value at the end of each bin of the time line, as a list of JSON, from its beginning
 * to the bin of the last reading; null: there was none before. */
void as_counter_bins(const struct as_counter_range *range, const struct as_timeline *timeline,
                     struct as_str *out);

#endif
