/* SPDX-License-Identifier: Apache-2.0 */
/* Computation of threads between events, from the samples among them. */
#ifndef AS_CLI_TRACE_SAMPLES_H
#define AS_CLI_TRACE_SAMPLES_H

#include "base/vec.h"
#include "experiment/experiment.h"
#include "sheet.h"

struct as_trace_sample_row {
    int64_t number;                                          /* of the thread */
    char *who, *state, *routine, *function, *place, *caller; /* NULL: none, or not known */
    int64_t n;
    double time_s, share_pct; /* of what was sampled of the thread in that state */
};
/* Rows of view v_trace_samples of a run. Release them in any case. */
struct as_trace_sample_list {
    AS_VEC(struct as_trace_sample_row) row;
};
int as_trace_samples_read(struct as_experiment *experiment, int64_t run_id,
                          struct as_trace_sample_list *out, struct as_error *err);
void as_trace_samples_fini(struct as_trace_sample_list *list);

/* Prints the samples with the most time between calls, by thread. */
int as_trace_samples_text(struct as_cli *cli, const struct as_trace_sample_list *list,
                          struct as_error *err);
/* All, under "samples". */
void as_trace_samples_facts(struct as_facts *facts, const struct as_trace_sample_list *list);

#endif
