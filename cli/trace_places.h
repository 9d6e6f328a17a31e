/* SPDX-License-Identifier: Apache-2.0 */
/* Places of calls of a trace, in words from its facts: "solve, solve.c:120". */
#ifndef AS_CLI_TRACE_PLACES_H
#define AS_CLI_TRACE_PLACES_H

#include <assay/experiment.h>

#include "analytics/state/analysis.h"

struct as_trace_place_list {
    const struct as_analysis *analysis;
    AS_VEC(char *) text; /* by site; NULL: not known */
};

/* Reads the facts of a run made from `analysis`. Release the list in any case. Errors: NOMEM,
 * those of reading. */
int as_trace_place_list_read(struct assay_experiment *experiment, int64_t run_id,
                             const struct as_analysis *analysis, struct as_trace_place_list *out,
                             struct assay_error *err);
void as_trace_place_list_fini(struct as_trace_place_list *list);

/* An as_parallel_place with a list as context. */
const char *as_trace_place_text(void *list, const struct as_site *site);

#endif
