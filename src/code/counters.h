/* SPDX-License-Identifier: Apache-2.0 */
/* Finds registers that count the iterations of a loop, and the bound that ends the loop. */
#ifndef AS_CODE_COUNTERS_H
#define AS_CODE_COUNTERS_H

#include "code/code.h"
#include "code/evaluate.h"

/* Sets the inductions and the limit of `out`. Returns 0 or AS_ERR_NOMEM. */
int as_counters_find(const struct as_program *program, uint32_t loop, const struct as_steps *steps,
                     const struct as_evaluation *e, struct as_streams *out);

#endif
