/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the verbs that run a command share: the request for a profile as the options say it, and the
 * name of the experiment.
 */
#ifndef AS_CLI_RECORDING_H
#define AS_CLI_RECORDING_H

#include <assay/profile.h>

#include "cli.h"
#include "experiment_name.h"

/* The request that the arguments make. Errors: USAGE, with the option and what to write. */
int as_recording_take(struct as_cli *cli, struct assay_profile_request *request,
                      struct assay_error *err);

/* Looks at the command before anything is made, and finds the experiment's name. Errors: those of
 * assay_launch_plan. */
int as_recording_name(struct as_cli *cli, const struct assay_profile_request *request,
                      struct as_experiment_name *name, struct assay_error *err);

/* As the program ended, so does assay. */
void as_end_like(struct as_cli *cli, const struct assay_profile_result *result);

#endif
