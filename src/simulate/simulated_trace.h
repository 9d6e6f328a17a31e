/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorded trace with the times of a simulation: all streams are copied, event by event. The
 * marks of the program (recorded.h) relate both clocks. Events between two marks keep their share
 * of the interval. Memory is that of the streams' blocks.
 */
#ifndef AS_SIMULATE_SIMULATED_TRACE_H
#define AS_SIMULATE_SIMULATED_TRACE_H

#include "simulate/recorded.h"

struct as_simulated_trace;

/*
 * `streams` is the directory of the recorded trace, `program` was opened of it and is not read yet;
 * `before` was filled by an earlier simulation. Writes to `directory`, which is empty, while the
 * program is simulated. Release with as_simulated_trace_end in any case. Errors: IO, NOMEM, those
 * of reading.
 */
int as_simulated_trace_begin(const char *streams, const char *directory,
                             const struct as_recorded *before, struct as_simulated_program *program,
                             struct as_simulated_trace **out, struct as_error *err);
/* `rc` is that of the simulation. With 0 the rest is written. Returns `rc`, or IO, NOMEM. */
int as_simulated_trace_end(struct as_simulated_trace **copy, int rc, struct as_error *err);

#endif
