/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of data/trust/, made by tools/gen-advice.py. */
#ifndef AS_TRUST_METRICS_H
#define AS_TRUST_METRICS_H

#include "experiment/metric_table.h"

extern const struct as_metric_row as_trust_metric[];
extern const size_t as_trust_metric_n;

#endif
