/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for runs that were interrupted before they were attributed. */
#ifndef AS_CLI_UNFINISHED_H
#define AS_CLI_UNFINISHED_H

#include "cli.h"
#include "experiment/experiment.h"

/* One sentence on stderr for each unfinished run that is asked for (0: all), unless --quiet; how
 * many there were into `*n` (may be NULL). Errors: those of reading. */
int as_unfinished_note(const struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                       size_t *n, struct as_error *err);

/* After a failure that left a recording behind: how to go on, at the end of its sentence. */
void as_unfinished_add(struct as_error *err, struct as_experiment *experiment, int64_t run_id);

/* Removes an experiment that holds nothing of use after the failure `err`. The sentence of a failed
 * write then says that nothing is kept. */
void as_experiment_drop(struct as_experiment **experiment, struct as_error *err);

#endif
