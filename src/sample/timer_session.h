/* SPDX-License-Identifier: Apache-2.0 */
/* Access to the session directory of a timer sampler, for other users of the agent in the
 * program. */
#ifndef AS_SAMPLE_TIMER_SESSION_H
#define AS_SAMPLE_TIMER_SESSION_H

#include "agent/inject/session.h"
#include "sample/sample.h"

/* Returns the session; the sampler owns it. */
struct as_agent_session *as_timer_session(struct as_timer_sampler *sampler);

/* Restricts sampling to Python interpreters with readable frames. Call it before the program
 * starts. */
void as_timer_python_alone(struct as_timer_sampler *sampler);
/* The pump in two steps: as_timer_collect reads the rings, as_timer_hand delivers the records
 * before `before_ns`. */
int as_timer_collect(struct as_timer_sampler *sampler, bool last, as_sample_sink *take,
                     void *context, struct as_error *err);
int as_timer_hand(struct as_timer_sampler *sampler, uint64_t before_ns, as_sample_sink *take,
                  void *context, struct as_error *err);
/* Returns true if the collected records show that Python frames of `pid` are read at `time_ns`. */
bool as_timer_reads_python(const struct as_timer_sampler *sampler, uint32_t pid, uint64_t time_ns);

/* As as_timer_sampler_check, for another feature that needs the agent in the program. `what` is
 * the action that is impossible; `instead` ends the sentence. */
int as_preload_check(const char *path, const char *what, const char *instead, struct as_error *err);
/* As as_preload_check for features of the patcher. The patcher also enters statically linked
 * programs by ptrace(2) (agent/inject/inject.h). */
int as_entry_check(const char *path, const char *what, struct as_error *err);

#endif
