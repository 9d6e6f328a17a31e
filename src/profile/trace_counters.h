/* SPDX-License-Identifier: Apache-2.0 */
/* perf counters that are read at the events of a trace: checks them, and encodes them for the
 * agent.
 */
#ifndef AS_PROFILE_TRACE_COUNTERS_H
#define AS_PROFILE_TRACE_COUNTERS_H

#include "base/error.h"
#include "base/str.h"

/* Checks that this machine counts the events of `names`, separated by commas. Errors: USAGE,
 * UNSUPPORTED, PERMISSION and others of as_counting_open. */
int as_trace_counters_check(const char *names, struct as_error *err);
/* Appends the encoded events of `names` to `out`. Errors: USAGE, NOMEM. */
int as_trace_counters_pack(const char *names, struct as_str *out, struct as_error *err);

#endif
