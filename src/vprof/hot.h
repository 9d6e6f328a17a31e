/* SPDX-License-Identifier: Apache-2.0 */
/* What a user is told who asked for loops or functions that are not there. */
#ifndef AS_VPROF_HOT_H
#define AS_VPROF_HOT_H

#include <assay/experiment.h>

struct as_hot_question {
    enum assay_object_kind kind;          /* LOOP or FUNCTION */
    const char *option, *asked, *nothing; /* "--loops", its value, "no hot loop is in" */
};

/* Gives USAGE with the names of those with most time in the run. Errors: those of rows. */
int as_hot_missed(struct assay_experiment *experiment, int64_t run_id,
                  const struct as_hot_question *question, struct assay_error *err);

#endif
