/* SPDX-License-Identifier: Apache-2.0 */
/* How tools/gen-advice.py writes the metrics of a pass down. */
#ifndef AS_EXPERIMENT_METRIC_TABLE_H
#define AS_EXPERIMENT_METRIC_TABLE_H

#include <stddef.h>

#include <assay/experiment.h>

/* What the rows of a metric's statement are. */
enum as_metric_kind {
    AS_METRIC_COMPUTED, /* there is none: the pass computes it */
    AS_METRIC_VALUE,    /* measured: value, low, high, n */
    AS_METRIC_EXACT,    /* counted: value, n */
    AS_METRIC_SHARE,    /* samples that are in it, all samples: per cent with its interval */
    AS_METRIC_MEAN      /* rows of value and samples: the mean weighted by samples */
};

struct as_metric_row {
    struct assay_metric metric;
    enum as_metric_kind kind;
    const char *sql; /* ?1 is the run; NULL = COMPUTED */
};

#endif
