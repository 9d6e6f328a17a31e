/* SPDX-License-Identifier: Apache-2.0 */
/* The campaign of verbs that count what a command executes: `assay count` and `assay roofline`. */
#ifndef AS_CLI_COUNTING_H
#define AS_CLI_COUNTING_H

#include "cli.h"
#include "count/count.h"
#include "experiment_name.h"

/* Shows what was counted. */
typedef int as_counting_show(struct as_cli *cli, struct as_experiment *experiment,
                             const struct as_count_result *result, struct as_error *err);

/*
 * Takes the request from the options, makes the experiment, counts, and calls `show`. `prepare`
 * (may be NULL) is called before the first run, but not for a rank. Sets the exit status to that of
 * the command. Errors: those of as_count_run, USAGE.
 */
int as_counting_verb(struct as_cli *cli, void (*prepare)(struct as_cli *), as_counting_show *show,
                     struct as_error *err);

#endif
