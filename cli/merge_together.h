/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `mpirun -n N assay merge`: rank 0 makes the experiment; all copy the streams of traces, each its
 * share, and analyse them together. The others know of it by a plan that rank 0 leaves for them.
 */
#ifndef AS_CLI_MERGE_TOGETHER_H
#define AS_CLI_MERGE_TOGETHER_H

#include "base/str.h"
#include "experiment/experiment.h"
#include "launch/party.h"

/* Stores the files to copy, as as_merge_experiments reports them: pairs of zero-terminated paths.
 * `context` is a struct as_str. */
int as_merge_note_copy(void *context, const char *from, const char *to, struct as_error *err);
/* In rank 0: `copies` are made by all, and what the traces say together becomes facts of the run.
 */
int as_merge_lead(struct as_party *party, const struct as_str *copies,
                  struct as_experiment *experiment, int64_t run_id, struct as_error *err);
/* In the others. */
int as_merge_follow(struct as_party *party, struct as_error *err);

#endif
