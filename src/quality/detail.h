/* SPDX-License-Identifier: Apache-2.0 */
/* Tables on the page of a loop that explain its metrics. */
#ifndef AS_QUALITY_DETAIL_H
#define AS_QUALITY_DETAIL_H

#include "code/code.h"
#include "experiment/experiment.h"

/*
 * Writes tables to the page of loop `loop_id`: the vector verdict, the memory accesses and the
 * instruction mix of `loop`. Also writes its paths if there are several. Errors: NOMEM, those of
 * the experiment.
 */
int as_quality_details(struct as_experiment *experiment, int64_t loop_id,
                       const struct as_program *program, uint32_t loop, struct as_error *err);

#endif
