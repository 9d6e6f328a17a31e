/* SPDX-License-Identifier: Apache-2.0 */
/* State of a run with probes, shared by the files that read and write its results. */
#ifndef AS_MIL_RUN_H
#define AS_MIL_RUN_H

#include "base/arena.h"
#include "campaign/internal.h"
#include "mil/mil.h"
#include "mil/plan.h"
#include "vprof/clock.h"
#include "vprof/instances.h"

/* Values of all threads at one site. */
struct as_probed_value {
    bool is_real, failed; /* failed: out of memory for more entries of `top` */
    uint64_t n, missed, lost, unordered;
    int64_t least, largest; /* bits of an integer or a double, as threads store them */
    double sum;
    uint64_t bucket[AS_PROBE_BUCKETS];
    AS_VEC(struct as_probe_top) top;
};

/* The first and last values of one thread in their order; `n` counts all its values. */
struct as_probed_ends {
    uint32_t pid, tid, place;
    uint64_t n;
    int64_t first[AS_PROBE_ENDS], last[AS_PROBE_ENDS];
};

struct as_probed_all {
    struct as_probe_timer *timer; /* array sizes are in the plan: timers, values, tallies */
    struct as_probed_value *value;
    struct as_probe_tally *tally;
    AS_VEC(struct as_probed_ends) ends;
    uint64_t empty_ticks, no_library, damaged;
};

struct as_probe_session {
    struct as_experiment *experiment;
    const struct as_probe_request *request;
    struct as_probe_result *result;
    struct as_input input; /* the same input for every run */
    struct as_probe_plan plan;
    struct as_tick tick;
    struct as_probed_all probed;
};

/* ---- read.c ---- */

/* Set the values of sites from the agent's results. A site without any result gets a refusal.
 * Errors: NOMEM. */
void as_probe_read_times(struct as_probe_session *run, const struct as_instances *all);
int as_probe_read_counts(struct as_probe_session *run, const struct as_instances *all,
                         struct as_error *err);

/* Returns the patch region of a site: its function, or a surrounding loop with its own clone.
 * Returns UINT32_MAX if there is none. */
uint32_t as_probe_region_of(const struct as_probe_session *run, const struct as_patch_plan *plan,
                            const struct as_probe_site *site);

/* ---- values.c ---- */

/* as_probe_read_probed adds up and removes the thread files in the agent's directory;
 * as_clones_run calls it. as_probe_read_values then sets the values of sites. Errors: NOMEM. */
int as_probe_read_probed(void *context, const char *directory, struct as_error *err);
int as_probe_read_values(struct as_probe_session *run, const struct as_instances *all,
                         struct as_error *err);
void as_probe_probed_fini(struct as_probe_session *run);

/* ---- write.c ---- */

int as_probe_write(struct as_probe_session *run, struct as_error *err);

/* ---- write_values.c ---- */

/* Writes tables of recorded values: their summary, their distribution, and the first and last
 * values of each thread. Errors: those of as_experiment_detail. */
int as_probe_write_values(const struct as_probe_session *run, struct as_arena *arena,
                          struct as_error *err);

#endif
