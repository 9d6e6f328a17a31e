/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the units of a run: values of functions and modules, and a table for each module. */
#ifndef AS_QUALITY_UNIT_RUN_H
#define AS_QUALITY_UNIT_RUN_H

#include <assay/experiment.h>

/*
 * Sets the metric number `score` of functions with time, and of modules (the mean of their units,
 * weighted by samples), of functions also metrics option_NAME where a harmful option is given and
 * given_NAME that says whether a useful one is, and the detail "options" of modules: unit by unit
 * what is given, missing, harmful. Errors: NOMEM, those of the experiment.
 */
int as_quality_units(struct assay_experiment *experiment, int64_t run_id, int64_t score,
                     struct assay_error *err);

#endif
