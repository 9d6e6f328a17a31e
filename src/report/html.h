/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as one HTML page: the shell with its title, data and, for readers without scripts, the
 * summary as text.
 */
#ifndef AS_REPORT_HTML_H
#define AS_REPORT_HTML_H

#include <assay/report.h>

#include "base/out.h"

/* Writes the page of a run (0 = the last). Errors: those of assay_report_data. */
int as_report_html(struct assay_experiment *experiment, int64_t run_id,
                   const struct assay_report_data_options *options, struct as_out *out,
                   struct assay_error *err);

/* Text for HTML: markup, control characters and what is not UTF-8 are made harmless. */
void as_html_escape(struct as_out *out, const char *text, size_t n);

#endif
