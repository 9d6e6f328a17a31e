/* SPDX-License-Identifier: Apache-2.0 */
/* What of a program is cloned for its probes: loops that are timed, functions that are counted, and
 * functions with points in them where threads note times and values. */
#ifndef AS_MIL_PLAN_H
#define AS_MIL_PLAN_H

#include <assay/mil.h>

#include "patch/patch.h"

/* Where what a site asks for stands in the files of threads. */
struct as_probe_place {
    uint32_t timer;       /* ASSAY_NONE: no time of a function */
    uint32_t first_value; /* so many as its probe records */
    uint32_t first_tally; /* and calls */
};

struct as_probe_plan {
    bool *timed, *counted;                 /* loops and bodies of the program that are wanted */
    struct as_patch_verdict *verdict;      /* of loops that are timed */
    struct as_patch_verdict *body_verdict; /* of loops, for counts: where a body is refused */
    uint8_t *refusal;                      /* of bodies that are counted */
    bool *probed;                          /* of bodies with points, so: */
    struct as_patch_verdict *probed_body_verdict; /* of loops */
    uint8_t *probed_refusal;
    struct as_probe_place *place;     /* by site */
    uint64_t timers, values, tallies; /* of a thread */
    uint8_t *times, *counts, *points; /* the plans, by as_alloc; NULL: nothing of the sort */
    size_t times_n, counts_n, points_n;
};

/* Whether the events of a probe are seen by timing loops, else by counting blocks. */
bool as_probe_is_timed(enum assay_probe_event event);
bool as_probe_is_whole(enum assay_probe_event event); /* of the program */

/* Whether what a site asks for is noted by threads at points of the code. */
bool as_probe_has_points(const struct assay_probes *probes, const struct assay_probe_site *site);
/* The plan of points, and `place` of each site; sites without refusal alone. Errors: NOMEM, LIMIT
 * (too many values). (points.c) */
int as_probe_plan_points(const struct assay_probes *probes, const struct assay_program *program,
                         const struct assay_probe_sites *sites, struct as_probe_plan *plan,
                         struct assay_error *err);
/* The bytes of a plan that does something; else NULL. Errors: NOMEM. */
int as_probe_take_bytes(struct as_patch_maker *maker, uint8_t **bytes, size_t *n,
                        struct assay_error *err);

/* Plans for the sites, and sets the refusal of those that have no clone. Errors: NOMEM. */
int as_probe_plan_make(const struct assay_probes *probes, const struct assay_program *program,
                       struct assay_probe_sites *sites, struct as_probe_plan *out,
                       struct assay_error *err);
void as_probe_plan_fini(struct as_probe_plan *plan);

#endif
