/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the filter that goes into programs: no allocation. */
#ifndef AS_TRACE_FILTER_MATCH_H
#define AS_TRACE_FILTER_MATCH_H

#include <stddef.h>

#define AS_TRACE_FILTER "filter" /* the file of packed rules, in an agent's directory */

enum as_filter_verdict {
    AS_FILTER_RECORDED,
    AS_FILTER_LEFT_OUT,
    AS_FILTER_FOUND /* recorded where it found something (MPI_Test) */
};

/* Returns the verdict of packed rules (struct as_trace_filter) on a name. */
enum as_filter_verdict as_filter_verdict_of(const char *rules, size_t rules_b, const char *name);

#endif
