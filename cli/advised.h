/* SPDX-License-Identifier: Apache-2.0 */
/* Making up for what a report needs and an experiment of `assay profile` or an import has not. */
#ifndef AS_CLI_ADVISED_H
#define AS_CLI_ADVISED_H

#include "cli.h"

/*
 * Lets the passes after the profile work on the runs of the experiment `path` that have samples and
 * no advice. Nothing happens, and nothing is said, where there is no such run or the experiment
 * cannot be written: the report then shows what there is.
 */
void as_advise(struct as_cli *cli, const char *path);

#endif
