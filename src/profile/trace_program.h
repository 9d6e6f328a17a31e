/* SPDX-License-Identifier: Apache-2.0 */
/* The program whose functions a trace is about, and rules of filters that name them as people do.
 */
#ifndef AS_PROFILE_TRACE_PROGRAM_H
#define AS_PROFILE_TRACE_PROGRAM_H

#include <assay/launch.h>
#include <assay/object.h>

#include "base/str.h"

/* Of a launcher (mpirun), a script, or a command of the system (timeout, taskset, ...) the first
 * word that is the path of a program which is not the system's; else the command. `path` has
 * PATH_MAX bytes. */
void as_trace_program(const struct assay_launch_plan *plan, char *path);

/*
 * Appends packed rules (trace/filter.h) to `rules`: in the program functions have the linker's
 * names, so that each whose readable name is judged otherwise gets a rule of its own. Errors:
 * NOMEM.
 */
int as_trace_readable_rules(const struct assay_object *object, struct as_str *rules,
                            struct assay_error *err);

#endif
