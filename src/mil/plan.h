/* SPDX-License-Identifier: Apache-2.0 */
/* What of a program is cloned for its probes: loops that are timed, functions that are counted. */
#ifndef AS_MIL_PLAN_H
#define AS_MIL_PLAN_H

#include <assay/mil.h>

#include "patch/patch.h"

struct as_probe_plan {
    bool *timed, *counted;            /* loops and bodies of the program that are wanted */
    struct as_patch_verdict *verdict; /* of loops that are timed */
    struct as_patch_verdict *held;    /* of loops, for counts: where a body is refused */
    uint8_t *refusal;                 /* of bodies that are counted */
    uint8_t *times, *counts;          /* the plans, by as_alloc; NULL: nothing of the sort */
    size_t times_n, counts_n;
};

/* Whether the events of a probe are seen by timing loops, else by counting blocks. */
bool as_probe_is_timed(enum assay_probe_event event);
bool as_probe_is_whole(enum assay_probe_event event); /* of the program */

/* Plans for the sites, and sets the refusal of those that have no clone. Errors: NOMEM. */
int as_probe_plan_make(const struct assay_probes *probes, const struct assay_program *program,
                       struct assay_probe_sites *sites, struct as_probe_plan *out,
                       struct assay_error *err);
void as_probe_plan_fini(struct as_probe_plan *plan);

#endif
