/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call paths as a tree for people: each function under its caller, with its times.
 */
#ifndef AS_CLI_CALLPATH_TREE_H
#define AS_CLI_CALLPATH_TREE_H

#include "cli.h"
#include "experiment/experiment.h"
#include "report/views.h"

/*
 * Shows the rows of `view`, one of call paths, those of most time first. `with_run`: with a column
 * of the run. Errors: those of reading; NOMEM.
 */
int as_callpath_tree_show(struct as_cli *cli, const struct as_report_view *view,
                          struct as_experiment *experiment, bool with_run, struct as_error *err);

#endif
