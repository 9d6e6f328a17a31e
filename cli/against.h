/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two commands in turns: `assay repeat --against`.
 */
#ifndef AS_CLI_AGAINST_H
#define AS_CLI_AGAINST_H

#include "cli.h"
#include "experiment/experiment.h"

/* Runs the command (A) and that of --against (B) alternately until the faster one is certain,
 * and prints the result. Errors: USAGE, those of running. */
int as_against_run(struct as_cli *cli, struct as_error *err);

/* Shows what an experiment holds of two commands in turns; 0 when there is none, else 1. */
int as_against_show(struct as_cli *cli, struct as_experiment *experiment, struct as_error *err);

#endif
