/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens files with untrusted names: a path from a binary, a file in an experiment, an argument.
 * Such a name may lead to a pipe without a writer, to a device or, by a link, anywhere. Opening
 * never waits, and only regular files are opened.
 */
#ifndef AS_BASE_UNTRUSTED_OPEN_H
#define AS_BASE_UNTRUSTED_OPEN_H

#include <sys/stat.h>

#include "base/error.h"

/* The last part of the path must not be a link: for files in a directory of other users. */
#define AS_FOREIGN_NO_LINK 1u

/*
 * Opens the regular file `path` for reading (relative to the directory `at`, or AT_FDCWD). Returns
 * -1 with errno: that of open(2), or EMEDIUMTYPE for another type of file. `*st` (may be NULL) is
 * set if errno is 0 or EMEDIUMTYPE.
 */
int as_foreign_open(int at, const char *path, unsigned bits, struct stat *st);

/*
 * Opens `path` for writing. The file is created (mode 0666) or truncated; no link is followed.
 * Returns a descriptor, or -1 with errno as of as_foreign_open.
 */
int as_foreign_create(int at, const char *path);

/*
 * Opens the regular file `below`, a relative path, in the directory `root`. No component of `below`
 * may be a link or "..", so the file is always in `root`. Errors as of as_foreign_open.
 */
int as_foreign_open_below(const char *root, const char *below, struct stat *st);

/*
 * Fills `err` for a file that could not be opened because of errno `number`. Returns the code:
 * NOT_FOUND, PERMISSION, NOT_REGULAR, LIMIT (no descriptor left), NOMEM or IO. `what` names the
 * file ("the filter").
 */
int as_foreign_fail(const char *path, const char *what, int number, struct as_error *err);

/* Returns the meaning of an errno of these functions: "not a regular file", or as strerror(3). */
const char *as_foreign_reason(int number);

#endif
