/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of data/analytics/, made by tools/gen-advice.py. */
#ifndef AS_ANALYTICS_METRICS_H
#define AS_ANALYTICS_METRICS_H

#include "experiment/metric_table.h"

extern const struct as_metric_row as_analytics_metric[];
extern const size_t as_analytics_metric_n;

#endif
