/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the recording of a run: its row, its host, its environment and its processes.
 */
#ifndef AS_PROFILE_RECORD_H
#define AS_PROFILE_RECORD_H

#include "launch/launch.h"
#include "machine/machine.h"
#include "profile/profile.h"

/* Adds this host with its facts, and writes the text of as_numa_write to `numa`. Errors: NOMEM,
 * those of the experiment. */
int as_run_host(struct as_experiment *experiment, int64_t *host_id, char *numa, size_t numa_b,
                struct as_error *err);
/* Sets the load of the usable CPUs between two readings, unless the run is too short. */
void as_run_load(const struct as_host_load *before, const struct as_host_load *after,
                 struct as_row_run *row);
/* Sets the resource usage that the kernel counted, if the command has ended and is our child. */
void as_run_usage(const struct as_launch_outcome *outcome, struct as_row_run *row);
/* Adds the environment variables that affect performance. Errors: those of the experiment. */
int as_run_environment(struct as_experiment *experiment, int64_t run_id, struct as_error *err);

/* Records the program, command and rank of a process; nothing if the process has ended. Returns 1
 * if the process has no command line yet; call again then. With `is_last`, it is recorded without
 * one. Errors: NOMEM, those of the recorder. */
int as_record_process(struct as_recorder *recorder, uint32_t pid, uint64_t time_ns, bool is_last,
                      struct as_error *err);
/* Records the end of a process; `status` is that of wait(2). Errors: those of the recorder. */
int as_record_end(struct as_recorder *recorder, uint32_t pid, uint64_t time_ns, int status,
                  struct as_error *err);
/* Copies the map of generated code (/tmp/perf-PID.map) of a process of `user`, if it exists. */
void as_record_generated(const char *directory, uint32_t pid, uid_t user);
/* Returns the user id of a running process; our own if the process has ended. */
uid_t as_record_user(uint32_t pid);

struct as_collector_kind;

/* Does the work of as_profile_run with these collectors (collector.h), for tests. */
int as_profile_run_with(const struct as_collector_kind *const *kinds,
                        struct as_experiment *experiment, const struct as_profile_request *request,
                        struct as_profile_result *result, struct as_error *err);

#endif
