/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --help and --version texts, made from the option table.
 */
#ifndef AS_CLI_HELP_H
#define AS_CLI_HELP_H

#include "base/str.h"
#include "options.h"

/* Appends the help of the program (verb = -1) or of one verb, wrapped to `width` columns. */
void as_help(struct as_str *out, int verb, unsigned width);

/* Appends what an option does, with its choices; `verb` -1: of the man page. */
void as_help_option(struct as_str *out, const struct as_option *option, int verb);

/* A name and its explanation, as they stand in help. */
void as_help_entry(struct as_str *out, const char *name, const char *text, unsigned width);

/* A metric of doc/reference/metrics.md; made of the same data. */
struct as_help_metric {
    const char *part, *name, *unit, *meaning;
};
extern const struct as_help_metric as_help_metrics[]; /* ends with name = NULL */
/* Appends all metrics, or those with a name that matches `pattern` (fnmatch(3)). Returns their
 * number. */
size_t as_help_of_metrics(struct as_str *out, const char *pattern, unsigned width);
/* Returns the metric with the name nearest to `name`; NULL if none is near. */
const char *as_help_near_metric(const char *name);

/* Lines on exit statuses and environment; shared with the man page. */
struct as_note {
    const char *name;
    const char *text;
};
extern const struct as_note as_exit_notes[];        /* ends with name = NULL */
extern const struct as_note as_environment_notes[]; /* ends with name = NULL */
extern const char as_program_summary[];

#endif
