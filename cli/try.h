/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How what was tried looks: text, JSON, CSV of the rows of v_tries.
 */
#ifndef AS_CLI_TRY_H
#define AS_CLI_TRY_H

#include "cli.h"
#include "experiment/experiment.h"

/* Shows what was tried in an experiment; NOT_FOUND where nothing was. Sets the exit status: 0 when
 * something gains, 3 when nothing does. */
int as_try_show(struct as_cli *cli, struct as_experiment *experiment, struct as_error *err);

#endif
