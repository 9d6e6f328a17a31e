/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared code of the verbs that make a profile: progress, and the summary at the end.
 */
#ifndef AS_CLI_PROFILING_H
#define AS_CLI_PROFILING_H

#include "base/progress.h"
#include "cli.h"
#include "experiment/experiment.h"

/* Progress of attribution: as_stage_show is its callback, a stage its context. Between the first
 * call and as_stage_end, a terminated process prints how to continue. */
struct as_stage {
    struct as_progress progress;
    const char *name;
    uint64_t done;
    bool is_on, quiet;
};
void as_stage_show(void *context, const char *name, uint64_t done, uint64_t total);
void as_stage_end(struct as_stage *stage);
/* Erases the line; the next call draws it again. */
void as_stage_pause(struct as_stage *stage);
void as_stage_guard(const char *experiment);

/* Computes findings, checks and metrics of a run, without reading code. A failure is reported
 * only: the profile is complete. */
void as_advise_quickly(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id);

/* Writes the text summary of a run to standard error, unless --quiet. */
int as_summary_show(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                    struct as_error *err);

#endif
