/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that a recording counts in addition to its samples, and the facts of their counts.
 */
#ifndef AS_PROFILE_COUNTS_H
#define AS_PROFILE_COUNTS_H

#include "profile/profile.h"
#include "sample/sample.h"

struct as_counts {
    struct as_counting *counting; /* NULL: the request has no events */
    const struct as_count *count; /* at the end of the recording */
    size_t n;
};

/* Opens counters of the request's events on `pid`. They start at its next exec (`on_exec`), or now.
 * Errors: those of as_counting_open. */
int as_counts_open(struct as_counts *counts, const struct as_profile_request *request, pid_t pid,
                   bool on_exec, struct as_error *err);
void as_counts_close(struct as_counts *counts);
/* Reads the counts at the end of the recording. Errors: those of as_counting_read. */
int as_counts_read(struct as_counts *counts, struct as_error *err);

/* Writes the counts as metrics "count_..." of the run, after its threads are known. Switches and
 * migrations also get a value for each thread and process, unless `lossy`: records were lost.
 * Errors: those of the experiment. */
int as_counts_store(const struct as_counts *counts, struct as_experiment *experiment,
                    int64_t run_id, bool lossy, struct as_error *err);

#endif
