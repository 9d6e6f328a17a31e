/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the role of each thread in its run; a step of the summary. */
#ifndef AS_EXPERIMENT_ROLES_H
#define AS_EXPERIMENT_ROLES_H

#include "experiment/experiment.h"

/* Sets `role` and `computing_ns` of the threads of a run from the sums of their samples. */
int as_roles_set(struct as_experiment *experiment, int64_t run_id, struct as_error *err);

#endif
