/* SPDX-License-Identifier: Apache-2.0 */
/* What tracing costs. */
#ifndef AS_TRACE_COST_H
#define AS_TRACE_COST_H

#include <stdbool.h>

/* Nanoseconds that a record of one number takes to be stamped and written here and now, into a file
 * that is made in the directory and removed; some milliseconds of measuring. What a wrapper does
 * besides is not in it. NAN where nothing can be written. */
double as_trace_record_ns(const char *directory, bool uses_counter);

#endif
