/* SPDX-License-Identifier: Apache-2.0 */
/* --time-limit and --memory-limit. */
#ifndef AS_CLI_QUERY_LIMITS_H
#define AS_CLI_QUERY_LIMITS_H

#include "options.h"

struct as_limits {
    uint64_t time_s, memory_mib; /* 0: no limit */
};

/* The limits of the options, or the defaults. USAGE for values that are out of range. */
int as_limits_of(const struct as_arguments *args, struct as_limits *out, struct assay_error *err);

#endif
