/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that appears whole or not at all: it is written under a name of its own beside its place
 * and renamed. In a directory that others made (an experiment) no link is followed: what stands at
 * the place, a link too, is replaced. Elsewhere the place is the user's: a link leads on, and a
 * device or pipe is written as it is.
 */
#ifndef AS_REPORT_REPLACE_H
#define AS_REPORT_REPLACE_H

#include <limits.h>
#include <stdbool.h>

#include <assay/error.h>

#include "base/str.h"

struct as_replace {
    const char *path;   /* what the user calls it; borrowed */
    int fd;             /* to write to */
    int at;             /* the directory of the place; -1 for a device */
    struct as_str real; /* the place */
    struct as_str beside;
};

/* Opens; `foreign`: the directory was made by others. Errors: USAGE (a directory), IO, NOMEM. */
int as_replace_begin(struct as_replace *it, const char *path, bool foreign,
                     struct assay_error *err);
/* True for what is written as it is: no file of our own that could be renamed. */
bool as_replace_is_device(const struct as_replace *it);
/* Closes; with `rc` 0 the new file takes its place, else nothing stays. Returns `rc`, or IO. */
int as_replace_end(struct as_replace *it, int rc, struct assay_error *err);

/* The sentence for a place that cannot be written. */
int as_replace_refused(const char *path, int number, struct assay_error *err);

#endif
