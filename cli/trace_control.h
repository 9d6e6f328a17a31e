/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `assay trace` that say when it records what. */
#ifndef AS_CLI_TRACE_CONTROL_H
#define AS_CLI_TRACE_CONTROL_H

#include "cli.h"
#include "profile/profile.h"

/* Errors: USAGE. */
int as_trace_control_parse(const struct as_arguments *args, struct as_trace_options *options,
                           struct as_error *err);

#endif
