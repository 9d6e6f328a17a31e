/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of data/decan/, made by tools/gen-advice.py. */
#ifndef AS_DECAN_METRICS_H
#define AS_DECAN_METRICS_H

#include "experiment/metric_table.h"

extern const struct as_metric_row as_decan_metric[];
extern const size_t as_decan_metric_n;

#endif
