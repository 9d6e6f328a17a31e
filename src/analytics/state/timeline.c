/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/state/timeline.h"

#include <string.h>

#include "analytics/waits/wait_intervals.h"
#include "base/error.h"

#define BINS_MOST   240u /* that are shown: more than a page has room for */
#define BINS_LEAST  32u
#define BINS_IN_ALL 65536u /* the same of all threads together */

const char *as_timeline_word(unsigned plane)
{
    return plane < AS_ACTIVITIES_N        ? as_activity_word((enum as_activity)plane)
           : plane == AS_TIMELINE_WAITING ? "waiting"
                                          : "critical_path";
}

const char *as_timeline_title(unsigned plane)
{
    return plane < AS_ACTIVITIES_N        ? as_activity_title((enum as_activity)plane)
           : plane == AS_TIMELINE_WAITING ? "waiting"
                                          : "critical path";
}

int as_timeline_new(struct as_timeline *out, uint32_t location_n, int64_t begin_ns, int64_t end_ns)
{
    uint32_t bin_n = (BINS_IN_ALL / (location_n ? location_n : 1)) & ~1u;
    bin_n = bin_n > BINS_MOST ? BINS_MOST : bin_n < BINS_LEAST ? BINS_LEAST : bin_n;
    *out = (struct as_timeline){.begin_ns = begin_ns, .bin_n = bin_n, .location_n = location_n};
    bin_n <<= AS_TIMELINE_SHOWN;
    out->bin_n = bin_n;
    out->bin_ns = end_ns > begin_ns ? (end_ns - begin_ns) / bin_n + 1 : 1;
    out->ns = as_calloc((size_t)location_n * AS_TIMELINE_PLANES_N + 1, bin_n * sizeof *out->ns);
    return out->ns ? 0 : AS_ERR_NOMEM;
}

void as_timeline_fini(struct as_timeline *timeline)
{
    as_free(timeline->ns);
    *timeline = (struct as_timeline){0};
}

static int64_t *plane_of(const struct as_timeline *t, uint32_t location, unsigned plane)
{
    return t->ns + ((size_t)location * AS_TIMELINE_PLANES_N + plane) * t->bin_n;
}

const int64_t *as_timeline_bins(const struct as_timeline *timeline, uint32_t location,
                                unsigned plane)
{
    return plane_of(timeline, location, plane);
}

int64_t as_timeline_bin_ns(const struct as_timeline *t, unsigned level)
{
    return t->bin_ns << level;
}

int64_t as_timeline_ns(const struct as_timeline *t, uint32_t location, unsigned plane,
                       unsigned level, uint32_t bin)
{
    const int64_t *ns = plane_of(t, location, plane);
    const uint64_t begin = (uint64_t)bin << level, end = (uint64_t)(bin + 1) << level;
    int64_t sum = 0;
    for (uint64_t i = begin; i < end && i < t->bin_n; i++)
        sum += ns[i];
    return sum;
}

/* Two bins become one. */
static void double_bins(struct as_timeline *t)
{
    for (size_t row = 0; row < (size_t)t->location_n * AS_TIMELINE_PLANES_N; row++) {
        int64_t *ns = t->ns + row * t->bin_n;
        for (uint32_t i = 0; i < t->bin_n / 2; i++)
            ns[i] = ns[2 * i] + ns[2 * i + 1];
        memset(ns + t->bin_n / 2, 0, t->bin_n / 2 * sizeof *ns);
    }
    t->bin_ns *= 2;
}

/* Calls `add` with the part of the interval in each bin. Time before the first bin is left out. */
typedef void add_part(void *context, uint32_t bin, int64_t ns);

static void each_part(struct as_timeline *t, int64_t begin_ns, int64_t end_ns, add_part *add,
                      void *context)
{
    int64_t at = begin_ns > t->begin_ns ? begin_ns : t->begin_ns;
    while (end_ns > at && (end_ns - 1 - t->begin_ns) / t->bin_ns >= t->bin_n)
        double_bins(t);
    while (at < end_ns) {
        const int64_t bin = (at - t->begin_ns) / t->bin_ns;
        const int64_t next = t->begin_ns + (bin + 1) * t->bin_ns;
        const int64_t until = next < end_ns ? next : end_ns;
        add(context, (uint32_t)bin, until - at);
        at = until;
    }
}

static void add_to_plane(void *context, uint32_t bin, int64_t ns)
{
    int64_t *plane = context;
    plane[bin] += ns;
}

void as_timeline_stretch(struct as_timeline *timeline, uint32_t location, enum as_activity activity,
                         int64_t begin_ns, int64_t end_ns)
{
    each_part(timeline, begin_ns, end_ns, add_to_plane, plane_of(timeline, location, activity));
}

struct idle_planes {
    int64_t *computing, *idle;
};

static void add_idle(void *context, uint32_t bin, int64_t ns)
{
    const struct idle_planes *plane = context;
    const int64_t moved_ns = plane->computing[bin] < ns ? plane->computing[bin] : ns;
    plane->computing[bin] -= moved_ns;
    plane->idle[bin] += moved_ns;
}

void as_timeline_idle(struct as_timeline *timeline, uint32_t location, int64_t begin_ns,
                      int64_t end_ns)
{
    struct idle_planes plane = {plane_of(timeline, location, AS_ACTIVITY_COMPUTING),
                                plane_of(timeline, location, AS_ACTIVITY_IDLE)};
    each_part(timeline, begin_ns, end_ns, add_idle, &plane);
}

void as_timeline_add(struct as_timeline *timeline, uint32_t location, unsigned plane,
                     int64_t bin_ns, uint32_t bin, int64_t ns)
{
    while (timeline->bin_ns < bin_ns)
        double_bins(timeline);
    plane_of(timeline, location, plane)[bin / (timeline->bin_ns / bin_ns)] += ns;
}

/* ---- What is known at the end ---------------------------------------------------------------- */

/* Waiting is part of what a thread was said to do. */
struct waiting {
    struct as_timeline *timeline;
    const struct as_analysis *analysis;
    uint32_t location;
    enum as_activity activity; /* of the call that waits */
};

static int64_t subtract_up_to(int64_t *bin, int64_t ns)
{
    const int64_t taken = *bin < ns ? *bin : ns;
    *bin -= taken;
    return taken;
}

static void add_waiting(void *context, uint32_t bin, int64_t ns)
{
    const struct waiting *w = context;
    int64_t left = ns - subtract_up_to(&plane_of(w->timeline, w->location, w->activity)[bin], ns);
    for (unsigned a = AS_ACTIVITY_MPI; left > 0 && a < AS_ACTIVITIES_N; a++)
        left -= subtract_up_to(&plane_of(w->timeline, w->location, a)[bin], left);
    plane_of(w->timeline, w->location, AS_TIMELINE_WAITING)[bin] += ns - left;
}

static uint32_t waiting_one(const void *context, const struct as_wait *wait)
{
    (void)context;
    return wait->location;
}

static void add_waiting_interval(void *context, uint32_t location, const struct as_wait *first,
                                 int64_t begin_ns, int64_t end_ns)
{
    struct waiting *w = context;
    const struct as_site *site =
        first->site == AS_WAIT_UNKNOWN ? NULL : &w->analysis->site.at[first->site];
    w->location = location;
    w->activity = site ? as_activity_of_group(site->group) : AS_ACTIVITY_OPENMP;
    each_part(w->timeline, begin_ns, end_ns, add_waiting, w);
}

int as_timeline_finish(struct as_timeline *timeline, const struct as_analysis *analysis)
{
    struct waiting waiting = {.timeline = timeline, .analysis = analysis};
    AS_TRY(as_waits_cover(&analysis->waits, waiting_one, add_waiting_interval, &waiting));
    as_vec_foreach (&analysis->path.piece, piece)
        each_part(timeline, piece->begin_ns, piece->end_ns, add_to_plane,
                  plane_of(timeline, piece->location, AS_TIMELINE_PATH));
    return 0;
}
