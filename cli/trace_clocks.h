/* SPDX-License-Identifier: Apache-2.0 */
/* How clocks of several machines were related, in a sentence. */
#ifndef AS_CLI_TRACE_CLOCKS_H
#define AS_CLI_TRACE_CLOCKS_H

#include "cli.h"
#include "experiment/experiment.h"

/* A note of the run, if it has a trace of several machines. Errors: those of reading. */
int as_trace_clocks_note(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                         struct as_error *err);

#endif
