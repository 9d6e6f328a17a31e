/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a run with probes share. */
#ifndef AS_MIL_RUN_H
#define AS_MIL_RUN_H

#include <assay/mil.h>

#include "campaign/internal.h"
#include "mil/plan.h"
#include "vprof/clock.h"
#include "vprof/instances.h"

struct as_probe_run {
    struct assay_experiment *experiment;
    const struct assay_probe_request *request;
    struct assay_probe_result *result;
    struct as_input input; /* the same for every run */
    struct as_probe_plan plan;
    struct as_tick tick;
};

/* ---- read.c ---- */

/* Values of sites from what the agent left; those with none get the reason. Errors: NOMEM. */
void as_probe_read_times(struct as_probe_run *run, const struct as_instances *all);
int as_probe_read_counts(struct as_probe_run *run, const struct as_instances *all,
                         struct assay_error *err);

/* ---- write.c ---- */

int as_probe_write(struct as_probe_run *run, struct assay_error *err);

#endif
