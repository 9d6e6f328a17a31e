/* SPDX-License-Identifier: Apache-2.0 */
/* What the room needs of sql_limits.c: the counting allocator, and the limits around each call of
 * SQLite. */
#ifndef AS_EXPERIMENT_SQL_LIMITS_H
#define AS_EXPERIMENT_SQL_LIMITS_H

#include <assay/experiment.h>

/* Puts the counter in front of SQLite's allocator; before SQLite is first used. */
void as_limits_install(void);
/* Sets the limit of memory for the next call of SQLite, and removes it; nothing without limits. */
void as_limits_enter(const struct assay_experiment *experiment);
void as_limits_leave(const struct assay_experiment *experiment);
/* LIMIT with its sentence if a limit made SQLite answer `code`, else 0. */
int as_limits_failure(const struct assay_experiment *experiment, int code, struct assay_error *err);

#endif
