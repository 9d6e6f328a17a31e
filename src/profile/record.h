/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the recording: the row of a run and what surrounds it, apart from the loop that records.
 */
#ifndef AS_PROFILE_RECORD_H
#define AS_PROFILE_RECORD_H

#include <assay/launch.h>
#include <assay/machine.h>
#include <assay/profile.h>

/* Adds this host, with its facts; `numa` gets as_numa_write's text. Errors: NOMEM, those of the
 * experiment. */
int as_run_host(struct assay_experiment *experiment, int64_t *host_id, char *numa, size_t numa_b,
                struct assay_error *err);
/* What went on between two readings on the usable CPUs, unless the time of `row` is too short to
 * count it. */
void as_run_load(const struct assay_host_load *before, const struct assay_host_load *after,
                 struct assay_row_run *row);
/* What the kernel counted of its processes, when it is over and was ours. */
void as_run_usage(const struct assay_launch_outcome *outcome, struct assay_row_run *row);
/* Adds the variables of the environment that matter to speed. */
int as_run_environment(struct assay_experiment *experiment, int64_t run_id,
                       struct assay_error *err);

/* Notes what a process runs: program, command, rank. Nothing when it is gone already. 1, and
 * nothing is noted: it begins just now and has no command line yet, look again (not with
 * `is_last`). */
int as_record_process(struct assay_recorder *recorder, uint32_t pid, uint64_t time_ns, bool is_last,
                      struct assay_error *err);
/* Notes how a process ended: `status` as wait(2) has it. */
int as_record_end(struct assay_recorder *recorder, uint32_t pid, uint64_t time_ns, int status,
                  struct assay_error *err);
/* Copies the map of generated code that a process of `user` has left in /tmp, if any. */
void as_record_generated(const char *directory, uint32_t pid, uid_t user);
/* Whose a process is that lives; else ours. */
uid_t as_record_user(uint32_t pid);

struct as_collector_kind;

/* assay_profile_run with other sources of observation (collector.h), for tests. */
int as_profile_run_with(const struct as_collector_kind *const *kinds,
                        struct assay_experiment *experiment,
                        const struct assay_profile_request *request,
                        struct assay_profile_result *result, struct assay_error *err);

#endif
