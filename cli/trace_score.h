/* SPDX-License-Identifier: Apache-2.0 */
/* Cost of a trace by routine: --score and --dry-run of `assay trace`. */
#ifndef AS_CLI_TRACE_SCORE_H
#define AS_CLI_TRACE_SCORE_H

#include "cli.h"
#include "experiment/experiment.h"

/* Sets `out` if a score of an existing trace is requested: then the verb runs nothing. Errors:
 * USAGE. */
int as_score_asked(const struct as_cli *cli, bool *out, struct as_error *err);
/* Prints the score of the experiment of --score. */
int as_score_experiment(struct as_cli *cli, struct as_error *err);
/* Prints the score of the run that was just recorded. `is_begun`: only its beginning was
 * recorded. */
int as_score_run(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                 struct as_error *err);

#endif
