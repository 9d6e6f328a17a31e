/* SPDX-License-Identifier: Apache-2.0 */
/* Records the time that a group of figures took, also in several parts, and how much of it was
 * lost. */
#ifndef AS_MEASURE_ACCOUNT_H
#define AS_MEASURE_ACCOUNT_H

#include "machine/machine.h"

struct as_group_time {
    int64_t began_ns; /* monotonic clock */
    double waited_s;  /* time lost in samples that the gate refused */
};

/* Resumes the interrupted group with the name in `group`, or begins a new one. Errors: NOMEM. */
int as_group_begin(struct as_figures *figures, struct as_figure_group *group, struct as_error *err);
/* Ends or interrupts a group and adds its time to earlier parts. Errors: NOMEM. */
int as_group_end(struct as_figures *figures, struct as_figure_group *group, bool is_done,
                 const struct as_group_time *time_of, struct as_error *err);

#endif
