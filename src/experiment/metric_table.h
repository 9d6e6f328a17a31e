/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of a pass as tools/gen-advice.py generates them. */
#ifndef AS_EXPERIMENT_METRIC_TABLE_H
#define AS_EXPERIMENT_METRIC_TABLE_H

#include <stddef.h>

#include "experiment/experiment.h"

/* Form of the rows that a metric's statement returns. */
enum as_metric_kind {
    AS_METRIC_COMPUTED, /* no statement: the pass computes the metric */
    AS_METRIC_VALUE,    /* a measured value: value, low, high, n */
    AS_METRIC_EXACT,    /* a count: value, n */
    AS_METRIC_SHARE,    /* samples inside, all samples: a percentage with its interval */
    AS_METRIC_MEAN      /* value, samples: the mean weighted by samples */
};

struct as_metric_row {
    struct as_metric metric;
    enum as_metric_kind kind;
    const char *sql; /* ?1 is the run; NULL for COMPUTED */
};

#endif
