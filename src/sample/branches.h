/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks from the branch records of the CPU (Intel LBR in call-stack mode, since Haswell).
 * Each call adds an entry and each return removes the last one, so the calls that have not returned
 * remain. A CPU has 8 to 32 entries; deeper stacks lose their outer callers. Source:
 * perf_event_open(2), PERF_SAMPLE_BRANCH_CALL_STACK; Intel SDM vol. 3B, "Last Branch, Interrupt,
 * and Exception Recording".
 */
#ifndef AS_SAMPLE_BRANCHES_H
#define AS_SAMPLE_BRANCHES_H

#include "base/read.h"
#include "sample/recorder.h"
#include "sample/sampler.h"

/* Requests branch records in `attr`. Requests the user registers too: they give the user position
 * while the kernel runs. */
void as_branches_request(struct perf_event_attr *attr);
/* Removes the request, for events without branch records. */
void as_branches_leave(struct perf_event_attr *attr);
/* Returns true if records of this event contain branch records. */
bool as_branches_asked(const struct perf_event_attr *attr);

/*
 * Fills `err` with the reason why branch records are missing, and returns its code. `error` is the
 * errno of the event with branch records. The same event is opened without them to find out whether
 * the counter itself is missing.
 */
int as_branches_refused(const struct perf_event_attr *attr, pid_t pid, int cpu, int error,
                        struct as_error *err);

/* Parses the branch records of a sample. Stores calls in `out` and skips other branches. */
void as_branches_parse(const struct perf_event_attr *attr, struct as_read *r,
                       struct as_sample_record *out);

/* Appends the user part of the call stack to `out`. */
void as_branches_frames(const struct as_sample_record *sample, const struct as_space *space,
                        const struct as_code_maps *maps, struct as_frames *out);

#endif
