/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that the user asks a verb to write (--output, --save, --plan and the like): which may be
 * written, and opening them. An input is never overwritten, nor a file of an experiment except its
 * reports; a file with content needs --force.
 */
#ifndef AS_CLI_DESTINATION_H
#define AS_CLI_DESTINATION_H

#include "base/outfile.h"
#include "options.h"

/* Returns 0 if `path`, which comes from the option `own`, may be written. Errors: USAGE, IO. */
int as_destination_check(const struct as_arguments *args, enum as_option_id own, const char *path,
                         struct as_error *err);
/* Checks and opens; `bits` as of as_outfile_begin. Errors: USAGE, IO, NOMEM. */
int as_destination_begin(const struct as_arguments *args, enum as_option_id own, const char *path,
                         unsigned bits, struct as_outfile *out, struct as_error *err);

#endif
