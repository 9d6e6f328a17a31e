/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that write the summary of a profile as text. */
#ifndef AS_REPORT_PROFILE_TEXT_H
#define AS_REPORT_PROFILE_TEXT_H

#include "report/page.h"
#include "report/profile.h"

struct as_summary_text {
    struct as_page page;
    struct as_profile *profile;
    int decimals; /* decimals of seconds */
    struct as_str text;
};

/* ---- profile_text_head.c ---- */

/* Writes the program, the host, and how the run was sampled. */
void as_summary_head(struct as_summary_text *s);
/* Appends a count such as "3 threads", behind a comma unless the text is empty. */
void as_summary_append_count(struct as_str *text, int64_t n, const char *one, const char *many);

/* ---- profile_text_brief.c ---- */

void as_summary_brief(struct as_summary_text *s);

/* ---- profile_text_trace.c ---- */

int as_summary_trace(struct as_summary_text *s, struct as_error *err);
/* Write a table of the trace, or nothing without rows. Errors: NOMEM. */
int as_text_trace_phases(struct as_page *page, const struct as_profile *profile,
                         struct as_error *err);
int as_text_trace_waits(struct as_page *page, const struct as_profile *profile,
                        struct as_error *err);
int as_text_trace_causes(struct as_page *page, const struct as_profile *profile,
                         struct as_error *err);

/* ---- profile_text_gains.c ---- */

int as_summary_gains(struct as_summary_text *s, struct as_error *err);

/* ---- profile_text_advice.c ---- */

void as_summary_flags(struct as_summary_text *s);
void as_summary_advice(struct as_summary_text *s);

#endif
