/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded time line: the run in bins of one length, and of each bin how long each thread spent in
 * which state. The length doubles when the run turns out to be longer; so memory does not depend on
 * events.
 */
#ifndef AS_ANALYTICS_TIMELINE_H
#define AS_ANALYTICS_TIMELINE_H

#include "analytics/state/analysis.h"

/* Planes: the activities, without what is waiting; waiting; and which part of all these is on the
 * critical path. */
enum { AS_TIMELINE_WAITING = AS_ACTIVITIES_N, AS_TIMELINE_PATH, AS_TIMELINE_PLANES_N };
const char *as_timeline_word(unsigned plane);
const char *as_timeline_title(unsigned plane);

/* Levels of detail: 0 has the bins as they are, those of the next are twice as long. At this one
 * there are as many as a page shows; at the last very few. */
#define AS_TIMELINE_SHOWN    3u
#define AS_TIMELINE_LEVELS_N 6u

struct as_timeline {
    int64_t begin_ns, bin_ns;
    uint32_t bin_n, location_n; /* bins of level 0, an even number */
    int64_t *ns;                /* by location, plane and bin */
};

/* For a trace of so many threads that is known to last from `begin_ns` to `end_ns` at least. 0 or
 * ASSAY_ERR_NOMEM. */
int as_timeline_new(struct as_timeline *out, uint32_t location_n, int64_t begin_ns, int64_t end_ns);
void as_timeline_fini(struct as_timeline *timeline);

/* As an as_analysis_watch tells them. */
void as_timeline_stretch(struct as_timeline *timeline, uint32_t location, enum as_activity activity,
                         int64_t begin_ns, int64_t end_ns);
void as_timeline_idle(struct as_timeline *timeline, uint32_t location, int64_t begin_ns,
                      int64_t end_ns);

/* Adds to what another time line of the same run and number of bins has in one of them, whose
 * length is `bin_ns`. */
void as_timeline_add(struct as_timeline *timeline, uint32_t location, unsigned plane,
                     int64_t bin_ns, uint32_t bin, int64_t ns);

/* When the analysis is whole: what was waiting, and the critical path. 0 or ASSAY_ERR_NOMEM. */
int as_timeline_finish(struct as_timeline *timeline, const struct as_analysis *analysis);

/* How long a bin of a level is, and what is in one of a plane. */
int64_t as_timeline_bin_ns(const struct as_timeline *timeline, unsigned level);
int64_t as_timeline_ns(const struct as_timeline *timeline, uint32_t location, unsigned plane,
                       unsigned level, uint32_t bin);

/* Nanoseconds of each bin of a plane: bin_n numbers. */
const int64_t *as_timeline_bins(const struct as_timeline *timeline, uint32_t location,
                                unsigned plane);

#endif
