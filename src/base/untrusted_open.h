/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening files that others made or named: a path out of a binary, what lies in an experiment, an
 * argument. Such a name may lead to a pipe that nobody writes to, to a device or, by a link, to
 * anywhere. Opening never waits, and only regular files are opened.
 */
#ifndef AS_BASE_UNTRUSTED_OPEN_H
#define AS_BASE_UNTRUSTED_OPEN_H

#include <sys/stat.h>

#include <assay/error.h>

/* The last part of the path may be no link: for what lies in a directory that others made. */
#define AS_FOREIGN_NO_LINK 1u

/*
 * A descriptor to read the regular file `path` (relative to the directory `at`, or AT_FDCWD), or -1
 * with errno: that of open(2), EMEDIUMTYPE for what is no regular file. `*st` (may be NULL) tells
 * of what is there when errno is 0 or EMEDIUMTYPE.
 */
int as_foreign_open(int at, const char *path, unsigned bits, struct stat *st);

/*
 * A descriptor to write `path` from its start, made (mode 0666) or emptied; no link is followed. -1
 * with errno as above.
 */
int as_foreign_create(int at, const char *path);

/*
 * Opens the regular file `below`, a relative path, in the directory `root`, where no component of
 * `below` may be a link or "..": the file is in `root` in any case. Errors as of as_foreign_open.
 */
int as_foreign_open_below(const char *root, const char *below, struct stat *st);

/*
 * Fills the sentence for a file that could not be opened because of errno `number`, and returns its
 * code: NOT_FOUND, PERMISSION, NOT_REGULAR, LIMIT (no descriptor left), NOMEM or IO. `what` names
 * the file ("the filter").
 */
int as_foreign_fail(const char *path, const char *what, int number, struct assay_error *err);

/* What an errno of the above means: "not a regular file", else as strerror(3). */
const char *as_foreign_reason(int number);

#endif
