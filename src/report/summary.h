/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of one run for a terminal: what its time is made of, where it is hot, what lessens
 * trust, what to look at next. All numbers are those of the experiment's views.
 */
#ifndef AS_REPORT_SUMMARY_H
#define AS_REPORT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#include <assay/experiment.h>

#include "base/out.h"

struct as_summary_style {
    size_t width; /* columns; 0 = 80 */
    bool colour;
    size_t rows; /* functions and loops shown; 0 = 10 */
};

/* Errors: NOT_FOUND (no such run), NOMEM, those of reading. */
int as_report_summary(struct assay_experiment *experiment, int64_t run_id,
                      const struct as_summary_style *style, struct as_out *out,
                      struct assay_error *err);

#endif
