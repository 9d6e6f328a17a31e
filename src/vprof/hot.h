/* SPDX-License-Identifier: Apache-2.0 */
/* Error for an option that names loops or functions that the run does not have. */
#ifndef AS_VPROF_HOT_H
#define AS_VPROF_HOT_H

#include "experiment/experiment.h"

struct as_hot_question {
    enum as_object_kind kind;             /* LOOP or FUNCTION */
    const char *option, *asked, *nothing; /* "--loops", its value, "no hot loop is in" */
};

/* Returns USAGE with the names of the hottest objects of the run. Errors: as reading rows. */
int as_hot_missed(struct as_experiment *experiment, int64_t run_id,
                  const struct as_hot_question *question, struct as_error *err);

#endif
