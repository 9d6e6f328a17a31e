/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a run with probes share. */
#ifndef AS_MIL_RUN_H
#define AS_MIL_RUN_H

#include <assay/mil.h>

#include "base/arena.h"
#include "campaign/internal.h"
#include "mil/plan.h"
#include "vprof/clock.h"
#include "vprof/instances.h"

/* Values of all threads at one place. */
struct as_probed_value {
    bool is_real, failed; /* the latter: no memory for more of `top` */
    uint64_t n, missed, lost, unordered;
    int64_t least, largest; /* as threads keep them */
    double sum;
    uint64_t bucket[AS_PROBE_BUCKETS];
    AS_VEC(struct as_probe_top) top;
};

/* The first and the last values of a thread, in their order. */
struct as_probed_ends {
    uint32_t pid, tid, place;
    uint64_t n;
    int64_t first[AS_PROBE_ENDS], last[AS_PROBE_ENDS];
};

struct as_probed_all {
    struct as_probe_timer *timer; /* so many as the plan says */
    struct as_probed_value *value;
    struct as_probe_tally *tally;
    AS_VEC(struct as_probed_ends) ends;
    uint64_t empty_ticks, no_library, damaged;
};

struct as_probe_run {
    struct assay_experiment *experiment;
    const struct assay_probe_request *request;
    struct assay_probe_result *result;
    struct as_input input; /* the same for every run */
    struct as_probe_plan plan;
    struct as_tick tick;
    struct as_probed_all probed;
};

/* ---- read.c ---- */

/* Values of sites from what the agent left; those with none get the reason. Errors: NOMEM. */
void as_probe_read_times(struct as_probe_run *run, const struct as_instances *all);
int as_probe_read_counts(struct as_probe_run *run, const struct as_instances *all,
                         struct assay_error *err);

/* The region that a place is in: its function, or the loop around it that stands for itself. */
uint32_t as_probe_region_of(const struct as_probe_run *run, const struct as_patch_plan *plan,
                            const struct assay_probe_site *site);

/* ---- values.c ---- */

/* Adds up and removes what threads left in the agent's directory, for as_clones_run; then values
 * of sites. Errors: NOMEM. */
int as_probe_read_probed(void *context, const char *directory, struct assay_error *err);
int as_probe_read_values(struct as_probe_run *run, const struct as_instances *all,
                         struct assay_error *err);
void as_probe_probed_fini(struct as_probe_run *run);

/* ---- write.c ---- */

int as_probe_write(struct as_probe_run *run, struct assay_error *err);

/* ---- write_values.c ---- */

/* Tables of values that were recorded: what they are, how they lie, the first and last of each
 * thread. Errors: those of assay_experiment_detail. */
int as_probe_write_values(const struct as_probe_run *run, struct as_arena *arena,
                          struct assay_error *err);

#endif
