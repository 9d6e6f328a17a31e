/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which formats each verb writes. The help of --format and the refusals come from one table, so
 * that no verb ignores a format. Knows no results.
 */
#ifndef AS_CLI_FORMATS_H
#define AS_CLI_FORMATS_H

#include "base/str.h"
#include "options.h"

enum as_format {
    AS_FORMAT_TEXT,
    AS_FORMAT_JSON,
    AS_FORMAT_CSV,
    AS_FORMAT_DOT,
    AS_FORMAT_SVG,
    AS_FORMAT_HTML
}; /* order of --format */

/* Appends what --format of `verb` does, as a sentence; `verb` -1: of all verbs. */
void as_formats_help(struct as_str *out, int verb);

/* Refuses the common --format where the verb does not write that format. Errors: USAGE. */
int as_formats_check(const struct as_arguments *args, struct as_error *err);

#endif
