/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A series of profiled runs into one experiment: what `assay scale` and `assay repeat` share. The
 * output of each run is kept in the experiment; a run that fails is noted, and the next one begins;
 * Ctrl-C ends the series, and what ran is shown.
 */
#ifndef AS_CLI_SERIES_H
#define AS_CLI_SERIES_H

#include "campaign/campaign.h"
#include "cli.h"
#include "experiment/experiment.h"
#include "profile/profile.h"

struct as_series {
    struct as_cli *cli;
    struct as_experiment *experiment;
    size_t run_n;             /* that are planned */
    size_t begun_n, failed_n; /* so far */
    bool is_over;             /* the user ended it */
    uint64_t start_ns;
    struct as_campaign *campaign;
    struct as_profile_request request;
};

struct as_series_run {
    const char *const *command;
    const char *kind, *label;
    const char *what; /* for the user: "2x4", "warm-up" */
    const char *role; /* as in the table `run` */
    int64_t reference_id;
    const struct as_setting *setting, *variable; /* that vary; further variables of this run */
    size_t setting_n, variable_n;
};

/*
 * Reads the shared options of a series and creates the experiment at --output. Without that option,
 * the name is free and starts with the program of `command`; `name` receives it. Call as_series_end
 * in any case. Errors: USAGE, UNSUPPORTED (input for one run only), those of the experiment.
 */
int as_series_begin(struct as_series *series, struct as_cli *cli, size_t run_n,
                    const char *const *command, struct as_str *name, struct as_error *err);
/*
 * Runs the command once; `*run_id` is 0 if no run was added. A failing command is not an error.
 * When `series->is_over` is set, the caller ends. Errors: those of as_profile_run.
 */
int as_series_run(struct as_series *series, const struct as_series_run *run, int64_t *run_id,
                  struct as_error *err);
/* Says what failed, and removes an experiment without runs. Results are to be shown before. */
int as_series_end(struct as_series *series, const char *name, int rc, struct as_error *err);

#endif
