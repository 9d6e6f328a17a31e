/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the page of a loop that show what its figures come from. */
#ifndef AS_QUALITY_DETAIL_H
#define AS_QUALITY_DETAIL_H

#include <assay/code.h>
#include <assay/experiment.h>

/*
 * Writes the memory accesses, the instruction mix and, if there are several, the paths of `loop`
 * for the loop `loop_id` of the experiment. Errors: NOMEM, those of the experiment.
 */
int as_quality_details(struct assay_experiment *experiment, int64_t loop_id,
                       const struct assay_program *program, uint32_t loop, struct assay_error *err);

#endif
