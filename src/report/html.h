/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a report as one HTML page: the page template with title and data, and a text summary for
 * readers without scripts.
 */
#ifndef AS_REPORT_HTML_H
#define AS_REPORT_HTML_H

#include "base/out.h"
#include "report/report.h"

/* Writes the page of a run (0: the last run). Errors: those of as_report_data. */
int as_report_html(struct as_experiment *experiment, int64_t run_id,
                   const struct as_report_data_options *options, struct as_out *out,
                   struct as_error *err);

/* Writes text for HTML. Markup, control characters and invalid UTF-8 are escaped. */
void as_html_escape(struct as_out *out, const char *text, size_t n);

#endif
