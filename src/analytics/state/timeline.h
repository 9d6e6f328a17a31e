/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A time line of bounded size: the run in bins of equal length, with the time of each thread per
 * plane and bin. The length of bins doubles when the run is longer than the bins. Memory therefore
 * does not depend on the number of events.
 */
#ifndef AS_ANALYTICS_TIMELINE_H
#define AS_ANALYTICS_TIMELINE_H

#include "analytics/state/analysis.h"

/* Planes: the activities without waiting; waiting; the part of all these on the critical path. */
enum { AS_TIMELINE_WAITING = AS_ACTIVITIES_N, AS_TIMELINE_PATH, AS_TIMELINE_PLANES_N };
const char *as_timeline_word(unsigned plane);
const char *as_timeline_title(unsigned plane);

/* Levels of detail: bins of a level are twice as long as those of the level before. Level 0 has the
 * stored bins. AS_TIMELINE_SHOWN is the level for a page. The last level has few bins. */
#define AS_TIMELINE_SHOWN    3u
#define AS_TIMELINE_LEVELS_N 6u

struct as_timeline {
    int64_t begin_ns, bin_ns;
    uint32_t bin_n, location_n; /* bin_n: bins of level 0, an even number */
    int64_t *ns;                /* by trace thread, plane and bin */
};

/* Creates a time line for `location_n` threads of a trace that spans at least `begin_ns` to
 * `end_ns`. Returns 0 or AS_ERR_NOMEM. */
int as_timeline_new(struct as_timeline *out, uint32_t location_n, int64_t begin_ns, int64_t end_ns);
void as_timeline_fini(struct as_timeline *timeline);

/* Receive the intervals of an as_analysis_watch. */
void as_timeline_stretch(struct as_timeline *timeline, uint32_t location, enum as_activity activity,
                         int64_t begin_ns, int64_t end_ns);
void as_timeline_idle(struct as_timeline *timeline, uint32_t location, int64_t begin_ns,
                      int64_t end_ns);

/* Adds `ns` of bin `bin` of another time line of the same run. That time line has as many bins, of
 * length `bin_ns`. */
void as_timeline_add(struct as_timeline *timeline, uint32_t location, unsigned plane,
                     int64_t bin_ns, uint32_t bin, int64_t ns);

/* Fills the planes of waiting and of the critical path from a finished analysis. Returns 0 or
 * AS_ERR_NOMEM. */
int as_timeline_finish(struct as_timeline *timeline, const struct as_analysis *analysis);

/* Returns the length of a bin of a level; the time in one bin of a plane. Nanoseconds. */
int64_t as_timeline_bin_ns(const struct as_timeline *timeline, unsigned level);
int64_t as_timeline_ns(const struct as_timeline *timeline, uint32_t location, unsigned plane,
                       unsigned level, uint32_t bin);

/* Returns the `bin_n` bins of a plane, in nanoseconds. */
const int64_t *as_timeline_bins(const struct as_timeline *timeline, uint32_t location,
                                unsigned plane);

#endif
