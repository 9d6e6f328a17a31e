/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace costs, routine by routine: --score and --dry-run of `assay trace`. */
#ifndef AS_CLI_TRACE_SCORE_H
#define AS_CLI_TRACE_SCORE_H

#include <assay/experiment.h>

#include "cli.h"

/* Whether the verb is asked for a score of what is there: then it runs nothing. Errors: USAGE. */
int as_score_asked(const struct as_cli *cli, bool *out, struct assay_error *err);
/* Of the experiment that --score names. */
int as_score_experiment(struct as_cli *cli, struct assay_error *err);
/* Of the run that was just recorded, of which only the beginning was: `is_begun`. */
int as_score_run(struct as_cli *cli, struct assay_experiment *experiment, int64_t run_id,
                 struct assay_error *err);

#endif
