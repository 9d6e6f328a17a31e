/* SPDX-License-Identifier: Apache-2.0 */
/* State while the results of a trace are written to the experiment. */
#ifndef AS_ANALYTICS_FACTS_H
#define AS_ANALYTICS_FACTS_H

#include "analytics/store/trace_result.h"
#include "catalogue/catalogue.h"

struct as_trace_facts {
    struct as_experiment *experiment;
    const struct as_traced *traced;
    int64_t run_id, traced_id, trace_id;
    int64_t *location_id, *thread_id, *site_id;     /* row ids, by index; 0: none */
    int64_t *function_id, *line_id;                 /* by call site */
    int64_t *sampled_function_id, *sampled_line_id; /* by place of samples */
    struct as_catalogue *catalogue;                 /* while places are resolved */
};

/* Sources of the code of a traced program: modules of the experiment, else files that did not
 * change since the trace. */
struct as_trace_code_source {
    struct as_experiment *experiment;
    struct as_catalogue *catalogue;
    const struct as_trace *trace;
};
/* Opens the code of a file; the caller closes it with as_catalogue_close. `*code` is NULL if the
 * file is unknown. Errors: NOMEM, those of the experiment. */
int as_trace_code_open(const struct as_trace_code_source *from, const char *path,
                       struct as_catalogue_module **code, struct as_error *err);

/* Resolves the function and line of call sites and of samples, as far as the code has them. Errors:
 * NOMEM, those of the experiment. */
int as_trace_places(struct as_trace_facts *facts, struct as_error *err);

/* machines.c: writes the corrections of clocks, and flags of doubtful clocks. Errors: those of
 * writing. */
int as_trace_clocks(const struct as_trace_facts *facts, struct as_error *err);
/* Writes the sums of samples. Errors: NOMEM, those of the experiment. */
int as_trace_sample_rows(const struct as_trace_facts *facts, struct as_error *err);
/* Writes flags of the run for parts that are missing in the trace, with the reason. Errors: those
 * of writing. */
int as_trace_partial(const struct as_trace_facts *facts, struct as_error *err);

/* Writes the efficiencies of the run as values of data/analytics/metrics.txt. Errors: those of
 * writing. */
int as_trace_metrics(const struct as_trace_facts *facts, struct as_error *err);

#endif
