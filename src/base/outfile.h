/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes files that a user names. A regular file appears complete or not at all. The bytes go to a
 * temporary file in the same directory, which is renamed at the end. The temporary file has another
 * name or none. A symbolic link is resolved first. Devices and pipes are written directly. This
 * file does not know the inputs of a command: see cli/destination.h.
 */
#ifndef AS_BASE_OUTFILE_H
#define AS_BASE_OUTFILE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/* The directory may belong to other users (an experiment). No link is followed; an existing file of
 * any type is replaced. */
#define AS_OUTFILE_FOREIGN 1u
/* Replace a regular file that has content. Without this flag such a file is refused. */
#define AS_OUTFILE_REPLACE 2u
/* A library writes the file under the path in `beside`. */
#define AS_OUTFILE_NAMED 4u
/* A new file gets mode 0600 instead of 0666. */
#define AS_OUTFILE_PRIVATE 8u

struct as_outfile {
    const char *path;     /* as given by the user; borrowed */
    int fd;               /* descriptor to write to */
    int at;               /* descriptor of the directory of the file; -1 for a device or pipe */
    bool is_there;        /* a file with this name existed at the start */
    bool keeps;           /* do not replace a file that another process creates meanwhile */
    struct as_str real;   /* the path with links resolved */
    struct as_str beside; /* the path of the temporary file; empty while it has no name */
};

/*
 * Checks whether `path` may be written, without writing. Returns 0 or an error: USAGE (a directory,
 * a file that may not be replaced), IO.
 */
int as_outfile_check(const char *path, unsigned bits, struct as_error *err);
/* Opens the file for writing. `path` is borrowed until as_outfile_end. Errors: those of
 * as_outfile_check, NOMEM. */
int as_outfile_begin(struct as_outfile *it, const char *path, unsigned bits, struct as_error *err);
/* Returns true for a device or a pipe, which cannot be renamed. */
bool as_outfile_is_device(const struct as_outfile *it);
/*
 * Closes the file. If `rc` is 0, the new file replaces the old one; otherwise nothing changes.
 * Returns `rc`, or IO if the replacement fails. Accepts a zeroed struct.
 */
int as_outfile_end(struct as_outfile *it, int rc, struct as_error *err);
/* Writes `n` bytes as the complete content and ends the file. Errors: IO. */
int as_outfile_fill(struct as_outfile *it, const void *bytes, size_t n, struct as_error *err);
/* Writes `n` bytes as the complete content of `path`. Errors: those of the functions above. */
int as_outfile_write(const char *path, unsigned bits, const void *bytes, size_t n,
                     struct as_error *err);

/* Fills `err` for a file that cannot be written because of errno `number`. Returns IO. */
int as_outfile_refused(const char *path, int number, struct as_error *err);

#endif
