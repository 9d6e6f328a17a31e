/* SPDX-License-Identifier: Apache-2.0 */
/* How long a group of figures took to measure, also in parts, and how much of it was waiting. */
#ifndef AS_MEASURE_ACCOUNT_H
#define AS_MEASURE_ACCOUNT_H

#include <assay/machine.h>

struct as_group_time {
    int64_t began_ns; /* of the monotonic clock */
    double waited_s;  /* in samples that did not pass the gate */
};

/* The group that `group` names as it was cut off, or begun now. Errors: NOMEM. */
int as_group_begin(struct assay_figures *figures, struct assay_figure_group *group,
                   struct assay_error *err);
/* Done now, or cut off; its time is added to what it took before. Errors: NOMEM. */
int as_group_end(struct assay_figures *figures, struct assay_figure_group *group, bool is_done,
                 const struct as_group_time *time_of, struct assay_error *err);

#endif
