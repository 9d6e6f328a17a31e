/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --help and --version texts, made from the option table.
 */
#ifndef AS_CLI_HELP_H
#define AS_CLI_HELP_H

#include "base/str.h"

/* Appends the help of the program (verb = -1) or of one verb, wrapped to `width` columns. */
void as_help(struct as_str *out, int verb, unsigned width);

/* What follows after exit statuses and in the environment; shared with the man page. */
struct as_note {
    const char *name;
    const char *text;
};
extern const struct as_note as_exit_notes[];        /* ends with name = NULL */
extern const struct as_note as_environment_notes[]; /* ends with name = NULL */
extern const char as_program_summary[];

#endif
