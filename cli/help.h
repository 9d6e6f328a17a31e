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

/* A metric of doc/reference/metrics.md, or a rule of doc/reference/rules.md; made of the same data.
 * `mark`: the unit, or the levels; may be empty. */
struct as_help_term {
    const char *part, *name, *mark, *meaning;
};
extern const struct as_help_term as_help_metrics[];  /* ends with name = NULL */
extern const struct as_help_term as_help_findings[]; /* so */
/* Appends all terms of a topic, or those with a name that matches `pattern` (fnmatch(3)). Returns
 * their number. */
size_t as_help_of_terms(struct as_str *out, enum as_topic topic, const char *pattern,
                        unsigned width);
/* Returns the term with the name nearest to `name`; NULL if none is near. */
const char *as_help_near_term(enum as_topic topic, const char *name);

/* Lines on exit statuses and environment; shared with the man page. */
struct as_note {
    const char *name;
    const char *text;
};
extern const struct as_note as_exit_notes[];        /* ends with name = NULL */
extern const struct as_note as_environment_notes[]; /* ends with name = NULL */
extern const char as_program_summary[];

#endif
