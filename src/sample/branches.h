/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks by the processor's record of branches (Intel's LBR in call-stack mode, since
 * Haswell): each call adds an entry, each return takes the last one away, so that what is left are
 * the calls that have not returned. Some 8 to 32 entries; deeper stacks lose their outer callers.
 * Source: perf_event_open(2), PERF_SAMPLE_BRANCH_CALL_STACK; Intel SDM vol. 3B, "Last Branch,
 * Interrupt, and Exception Recording".
 */
#ifndef AS_SAMPLE_BRANCHES_H
#define AS_SAMPLE_BRANCHES_H

#include "base/read.h"
#include "sample/recorder.h"
#include "sample/sampler.h"

/* Asks for them. The user's registers come too: where the program was when the kernel is. */
void as_branches_request(struct perf_event_attr *attr);
/* Takes that back, for events that have none. */
void as_branches_leave(struct perf_event_attr *attr);
/* Whether records of such an event carry them. */
bool as_branches_asked(const struct perf_event_attr *attr);

/*
 * Why there are none: `error` is what the kernel said to an event that asked for them; the same one
 * without decides whether it is the counter that is missing. Returns the code of `err`.
 */
int as_branches_refused(const struct perf_event_attr *attr, pid_t pid, int cpu, int error,
                        struct assay_error *err);

/* Reads the branches of a sample: calls into `out`, others are passed over. */
void as_branches_parse(const struct perf_event_attr *attr, struct as_read *r,
                       struct assay_sample_record *out);

/* The user's part of the stack, behind what is in `out` already. */
void as_branches_frames(const struct assay_sample_record *sample, const struct as_space *space,
                        const struct as_code_maps *maps, struct as_frames *out);

#endif
