/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the recording: events that are counted beside the samples, and where their counts go.
 */
#ifndef AS_PROFILE_COUNTS_H
#define AS_PROFILE_COUNTS_H

#include <assay/profile.h>
#include <assay/sample.h>

struct as_counts {
    struct assay_counting *counting; /* NULL: none were asked for */
    const struct assay_count *count; /* as of the end of the recording */
    size_t n;
};

/* Counters of the request's events on `pid`, from its execution on (`on_exec`) or from now. Errors:
 * as assay_counting_open. */
int as_counts_open(struct as_counts *counts, const struct assay_profile_request *request, pid_t pid,
                   bool on_exec, struct assay_error *err);
void as_counts_close(struct as_counts *counts);
/* At the end of the recording. Errors: as assay_counting_read. */
int as_counts_read(struct as_counts *counts, struct assay_error *err);

/* What was taken, once the run's threads are known: metrics "count_...", with a value for the run,
 * and of switches and migrations one for each thread and process, unless the recording was
 * `lossy`. Errors: of the experiment. */
int as_counts_store(const struct as_counts *counts, struct assay_experiment *experiment,
                    int64_t run_id, bool lossy, struct assay_error *err);

#endif
