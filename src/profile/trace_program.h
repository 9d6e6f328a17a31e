/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the program of a trace, and makes filter rules for readable names of its functions. */
#ifndef AS_PROFILE_TRACE_PROGRAM_H
#define AS_PROFILE_TRACE_PROGRAM_H

#include "base/str.h"
#include "launch/launch.h"
#include "object/object.h"

/* Writes the path of the traced program to `path`, which has PATH_MAX bytes. A launcher
 * (mpirun), a script or a system command (timeout, taskset) has it among its arguments. It is the
 * first one that is the path of a program outside the system. Otherwise it is the command. */
void as_trace_program(const struct as_launch_plan *plan, char *path);

/*
 * Appends packed rules (trace/filter.h) to `rules`. The agent knows only linkage names of
 * functions. Each function gets a rule if its readable name has another verdict than its linkage
 * name. Errors: NOMEM.
 */
int as_trace_readable_rules(const struct as_object *object, struct as_str *rules,
                            struct as_error *err);

#endif
