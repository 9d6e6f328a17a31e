/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of data/quality/, made by tools/gen-advice.py. */
#ifndef AS_QUALITY_METRICS_H
#define AS_QUALITY_METRICS_H

#include "experiment/metric_table.h"

extern const struct as_metric_row as_quality_metric[];
extern const size_t as_quality_metric_n;

#endif
