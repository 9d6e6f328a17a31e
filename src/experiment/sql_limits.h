/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of users' SQL: the counting allocator, and the calls around each use of SQLite. */
#ifndef AS_EXPERIMENT_SQL_LIMITS_H
#define AS_EXPERIMENT_SQL_LIMITS_H

#include "experiment/experiment.h"

/* Installs the counting allocator. Call it before the first use of SQLite. */
void as_limits_install(void);
/* Set and remove the memory limit around one use of SQLite. Without limits they do nothing. */
void as_limits_enter(const struct as_experiment *experiment);
void as_limits_leave(const struct as_experiment *experiment);
/* Sets the message if a limit caused the result `code` of SQLite. Returns LIMIT (time, Ctrl-C),
 * NOMEM (memory), or 0 if no limit was reached. */
int as_limits_failure(const struct as_experiment *experiment, int code, struct as_error *err);

#endif
