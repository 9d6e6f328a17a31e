/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a trace while they are written. */
#ifndef AS_ANALYTICS_FACTS_H
#define AS_ANALYTICS_FACTS_H

#include <assay/catalogue.h>

#include "analytics/store/trace_result.h"

struct as_trace_facts {
    struct assay_experiment *experiment;
    const struct as_traced *traced;
    int64_t run_id, traced_id, trace_id;
    int64_t *location_id, *thread_id, *site_id;     /* rows, by place; 0: none */
    int64_t *function_id, *line_id;                 /* of sites */
    int64_t *sampled_function_id, *sampled_line_id; /* of places of samples */
    struct assay_catalogue *catalogue;              /* while places are looked for */
};

/* The code of a traced program: modules that the experiment has, else files that did not change
 * since the trace. */
struct as_trace_code_source {
    struct assay_experiment *experiment;
    struct assay_catalogue *catalogue;
    const struct as_trace *trace;
};
/* Whoever asks closes it with assay_catalogue_close. NULL: nothing is known of it. Errors: NOMEM,
 * those of the experiment. */
int as_trace_code_open(const struct as_trace_code_source *from, const char *path,
                       struct assay_catalogue_module **code, struct assay_error *err);

/* Which function calls, in which line, and the same of samples: fills the ids as far as code says
 * it. Errors: NOMEM, those of the experiment. */
int as_trace_places(struct as_trace_facts *facts, struct assay_error *err);

/* machines.c: how clocks were corrected, and what is doubtful by that. Errors: those of writing. */
int as_trace_clocks(const struct as_trace_facts *facts, struct assay_error *err);
/* What samples fell into. Errors: NOMEM, those of the experiment. */
int as_trace_sample_rows(const struct as_trace_facts *facts, struct assay_error *err);
/* What of the run is not in the trace, and why, as flags of the run. Errors: those of writing. */
int as_trace_partial(const struct as_trace_facts *facts, struct assay_error *err);

/* Shares of the run, as values of data/analytics/metrics.txt. Errors: those of writing. */
int as_trace_metrics(const struct as_trace_facts *facts, struct assay_error *err);

#endif
