/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a sampler by timers, for other clients of the agent that it puts there. */
#ifndef AS_SAMPLE_TIMER_SESSION_H
#define AS_SAMPLE_TIMER_SESSION_H

#include <assay/sample.h>

#include "agent/inject/session.h"

/* Owned by the sampler. */
struct as_agent_session *as_timer_session(struct assay_timer_sampler *sampler);

/* Samples only interpreters of Python that are read. Before the program is there. */
void as_timer_python_alone(struct assay_timer_sampler *sampler);
/* The pump in two steps: takes what is in the rings, and hands out what is earlier than a time. */
int as_timer_collect(struct assay_timer_sampler *sampler, bool last, assay_sample_sink *take,
                     void *context, struct assay_error *err);
int as_timer_hand(struct assay_timer_sampler *sampler, uint64_t before_ns, assay_sample_sink *take,
                  void *context, struct assay_error *err);
/* Returns true if frames of Python are read in the process at a time, as far as was gathered. */
bool as_timer_reads_python(const struct assay_timer_sampler *sampler, uint32_t pid,
                           uint64_t time_ns);

/* As assay_timer_sampler_check, for something else that needs the agent in the program: it cannot
 * be `what`; `instead` ends the sentence. */
int as_preload_check(const char *path, const char *what, const char *instead,
                     struct assay_error *err);
/* The same of what the patcher does: it also enters statically linked programs, by ptrace(2)
 * (agent/inject/inject.h). */
int as_entry_check(const char *path, const char *what, struct assay_error *err);

#endif
