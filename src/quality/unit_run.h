/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the units of a run: values of functions and modules, and a table for each module. */
#ifndef AS_QUALITY_UNIT_RUN_H
#define AS_QUALITY_UNIT_RUN_H

#include "experiment/experiment.h"

/*
 * Writes the metric with id `score` for functions with time and for modules. The value of a module
 * is the mean of its units, weighted by samples. Functions also get option_NAME for each harmful
 * option that is set, and given_NAME (1 or 0) for each useful option. Modules get the detail
 * "options": the set, missing and harmful options by unit. With `run_id` 0, every function and
 * every unit with loops is written. Errors: NOMEM, those of the experiment.
 */
int as_quality_units(struct as_experiment *experiment, int64_t run_id, int64_t score,
                     struct as_error *err);

#endif
