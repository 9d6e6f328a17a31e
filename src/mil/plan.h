/* SPDX-License-Identifier: Apache-2.0 */
/* Plans the clones for probes: loops with timers, functions with counters, and functions with
 * points. At a point a thread records times and values. */
#ifndef AS_MIL_PLAN_H
#define AS_MIL_PLAN_H

#include "mil/mil.h"
#include "patch/patch.h"

/* Indices of a site's data in the files of the threads. */
struct as_probe_place {
    uint32_t timer;       /* AS_NONE: the site takes no time of a function */
    uint32_t first_value; /* index of the first value; one value per `record` of the probe */
    uint32_t first_tally; /* index of the first tally; one tally per `call` of the probe */
};

struct as_probe_plan {
    /* by loop, by body: needs a clone with a timer, with counters */
    bool *timed, *counted;
    struct as_patch_verdict *verdict; /* by loop with a timer */
    /* by loop: its own clone with counters if its body is refused */
    struct as_patch_verdict *body_verdict;
    uint8_t *refusal; /* by body with counters */
    bool *probed;     /* by body: needs a clone with points */
    /* by loop: its own clone with points if its body is refused */
    struct as_patch_verdict *probed_body_verdict;
    uint8_t *probed_refusal;
    struct as_probe_place *place;     /* by site; NULL without points */
    uint64_t timers, values, tallies; /* numbers of each per thread */
    /* the plans; freed by as_probe_plan_fini; NULL if not needed */
    uint8_t *times, *counts, *points;
    size_t times_n, counts_n, points_n;
};

/* Returns true if timers of loops serve the event; all other events use counters or points. */
bool as_probe_is_timed(enum as_probe_event event);
bool as_probe_is_whole(enum as_probe_event event); /* the event belongs to the whole program */

/* Returns true if the site needs points: records, calls, or the time of a function. */
bool as_probe_has_points(const struct as_probes *probes, const struct as_probe_site *site);
/* Makes the plan of points and sets `place` of each site that has no refusal (points.c). Errors:
 * NOMEM, LIMIT (too many values). */
int as_probe_plan_points(const struct as_probes *probes, const struct as_program *program,
                         const struct as_probe_sites *sites, struct as_probe_plan *plan,
                         struct as_error *err);
/* Returns the bytes of the finished plan in `bytes`, or NULL if the plan is empty. Free them
 * with as_free. Errors: NOMEM. */
int as_probe_take_bytes(struct as_patch_maker *maker, uint8_t **bytes, size_t *n,
                        struct as_error *err);

/* Makes the plans for all sites, and sets `refusal` of each site without a clone. Free the
 * result with as_probe_plan_fini. Errors: NOMEM, LIMIT. */
int as_probe_plan_make(const struct as_probes *probes, const struct as_program *program,
                       struct as_probe_sites *sites, struct as_probe_plan *out,
                       struct as_error *err);
void as_probe_plan_fini(struct as_probe_plan *plan);

#endif
