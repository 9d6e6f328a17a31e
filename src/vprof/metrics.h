/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of data/vprof/, made by tools/gen-advice.py. */
#ifndef AS_VPROF_METRICS_H
#define AS_VPROF_METRICS_H

#include "experiment/metric_table.h"

extern const struct as_metric_row as_vprof_metric[];
extern const size_t as_vprof_metric_n;

/* The first of each part, in the order of the table: of loops and buckets (a set), of loops alone,
 * of the run. */
enum as_timed_metric {
    AS_TIMED_SET,
    AS_TIMED_CYCLES = AS_TIMED_SET + 2, /* of an iteration */
    AS_TIMED_TOTALS = AS_TIMED_SET + 13,
    AS_TIMED_RUN = AS_TIMED_TOTALS + 2,
    AS_TIMED_METRICS = AS_TIMED_RUN + 5
};

/* As this room's own. */
struct assay_metric as_timed_metric_of(unsigned number);

#endif
