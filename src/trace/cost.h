/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost of tracing. */
#ifndef AS_TRACE_COST_H
#define AS_TRACE_COST_H

#include <stdbool.h>

/* Returns the time in ns to stamp and write a record with one number, without the rest of a
 * wrapper. Measures for some milliseconds, with a temporary file in `directory`. `uses_counter`:
 * the time stamp is the TSC. NAN if the file cannot be written. */
double as_trace_record_ns(const char *directory, bool uses_counter);

#endif
