/* SPDX-License-Identifier: Apache-2.0 */
#include "query_limits.h"

#include "base/error.h"

#define DEFAULT_TIME_S     600
#define DEFAULT_MEMORY_MIB 4096
#define MAX_MEMORY_MIB     (UINT64_MAX >> 20)

static uint64_t given_or(const struct as_arguments *args, int option, uint64_t otherwise)
{
    return as_given(args, option) ? args->number[option] : otherwise;
}

int as_limits_of(const struct as_arguments *args, struct as_limits *out, struct assay_error *err)
{
    *out = (struct as_limits){given_or(args, AS_OPTION_TIME_LIMIT, DEFAULT_TIME_S),
                              given_or(args, AS_OPTION_MEMORY_LIMIT, DEFAULT_MEMORY_MIB)};
    if (out->time_s > INT32_MAX)
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--time-limit: value out of range; use 0 for no limit");
    if (out->memory_mib > MAX_MEMORY_MIB)
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--memory-limit: value out of range; use 0 for no limit");
    return 0;
}
