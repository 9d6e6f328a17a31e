/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared code of the verbs that run a command: the request for a profile from the options, and the
 * name of the experiment.
 */
#ifndef AS_CLI_RECORDING_H
#define AS_CLI_RECORDING_H

#include "cli.h"
#include "experiment_name.h"
#include "profile/profile.h"

/* The request that the arguments make. Errors: USAGE, with the option and what to write. */
int as_recording_parse(struct as_cli *cli, struct as_profile_request *request,
                       struct as_error *err);

/* Bytes of an option's text ("16M"); 0 where it is NULL. Errors: USAGE. */
int as_recording_size(const char *option, const char *text, uint64_t *size_b, struct as_error *err);

/* Looks at the command before anything is made, and finds the experiment's name. Errors: those of
 * as_launch_plan. */
int as_recording_name(struct as_cli *cli, const struct as_profile_request *request,
                      struct as_experiment_name *name, struct as_error *err);

/* Appends the name of a function, or of a loop its place: "daxpy kernels.c:12"; its address where
 * lines are not known. Errors: those of rows. */
int as_recording_place(struct as_experiment *experiment, enum as_object_kind kind, int64_t id,
                       uint64_t address, struct as_str *out, struct as_error *err);

/* Closes the experiment: without a run it is removed, and an unattributed run is reported with
 * the way to continue. Returns `rc`, or the error of closing. */
int as_recording_close(struct as_experiment **experiment, int64_t run_id, int rc,
                       struct as_error *err);

/* The end of a campaign, of which `rc` came: says where the experiment is, frees the name, and ends
 * as the program did, or as interrupted. */
void as_recording_end(struct as_cli *cli, struct as_experiment_name *name,
                      const struct as_profile_result *result, bool interrupted, int rc);

/* As the program ended, so does assay. */
void as_end_like(struct as_cli *cli, const struct as_profile_result *result);

#endif
