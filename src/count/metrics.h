/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of data/count/, made by tools/gen-advice.py. */
#ifndef AS_COUNT_METRICS_H
#define AS_COUNT_METRICS_H

#include "experiment/metric_table.h"

extern const struct as_metric_row as_count_metric[];
extern const size_t as_count_metric_n;
extern const struct as_metric_row as_traffic_metric[];
extern const size_t as_traffic_metric_n;

#endif
