/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a trace to analyse: --from and --to of `assay trace`, and --analyse. */
#ifndef AS_CLI_TRACE_RANGE_H
#define AS_CLI_TRACE_RANGE_H

#include "analytics/state/range.h"
#include "cli.h"
#include "experiment/experiment.h"

/* Names of regions. */
struct as_trace_range_texts {
    struct as_str from, to;
};
/* Reads --from and --to. Regions of `out` are borrowed from `texts`; release these with
 * as_trace_range_fini. Errors: USAGE, NOMEM. */
int as_trace_range_parse(const struct as_arguments *args, struct as_trace_range_texts *texts,
                         struct as_range_wanted *out, struct as_error *err);
void as_trace_range_fini(struct as_trace_range_texts *texts);

/* Sets `out` if an existing trace is to be analysed: then the verb runs nothing. Errors: USAGE. */
int as_analyse_asked(const struct as_cli *cli, bool *out, struct as_error *err);
/* Finds the run of EXP that has facts of a trace, and the run that was traced. Errors: NOT_FOUND,
 * those of the experiment. */
int as_analyse_find(struct as_experiment *experiment, int64_t *run_id, int64_t *traced_id,
                    struct as_error *err);

#endif
