/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes files that a user names. A regular file appears complete or not at all: the bytes go to a
 * file without a name (or with another name) in the same directory, which is renamed at the end. A
 * symbolic link is resolved first. Devices and pipes are written directly. Does not know which
 * files are inputs: see cli/destination.h.
 */
#ifndef AS_BASE_OUTFILE_H
#define AS_BASE_OUTFILE_H

#include <stdbool.h>

#include <assay/error.h>

#include "base/str.h"

/* Other users may have made the directory (an experiment): no link is followed, whatever has the
 * name is replaced. */
#define AS_OUTFILE_FOREIGN 1u
/* Replace a regular file that has content. Without this flag such a file is refused. */
#define AS_OUTFILE_REPLACE 2u
/* A library writes the file by the name in `beside`. */
#define AS_OUTFILE_NAMED 4u
/* A new file gets mode 0600 instead of 0666. */
#define AS_OUTFILE_PRIVATE 8u

struct as_outfile {
    const char *path;     /* as the user named it; borrowed */
    int fd;               /* to write to */
    int at;               /* the directory of the file; -1 for a device or pipe */
    bool is_there;        /* a file with this name exists */
    bool keeps;           /* a file that another process makes meanwhile is not replaced */
    struct as_str real;   /* the path with links resolved */
    struct as_str beside; /* the path of the temporary file; empty while it has no name */
};

/*
 * Returns whether `path` may be written, without writing. Errors: USAGE (a directory, a file that
 * may not be replaced), IO.
 */
int as_outfile_check(const char *path, unsigned bits, struct assay_error *err);
/* Opens. `path` is borrowed until the end. Errors: those of as_outfile_check, NOMEM. */
int as_outfile_begin(struct as_outfile *it, const char *path, unsigned bits,
                     struct assay_error *err);
/* True for a device or a pipe, which cannot be renamed. */
bool as_outfile_is_device(const struct as_outfile *it);
/*
 * Closes. With `rc` 0 the new file replaces the old one; otherwise nothing changes. Returns `rc`,
 * or IO. Does nothing for zeroed memory.
 */
int as_outfile_end(struct as_outfile *it, int rc, struct assay_error *err);
/* Writes the whole content and ends. Errors: IO. */
int as_outfile_fill(struct as_outfile *it, const void *bytes, size_t n, struct assay_error *err);
/* Writes `n` bytes as the whole content of `path`. Errors: those of the functions above. */
int as_outfile_write(const char *path, unsigned bits, const void *bytes, size_t n,
                     struct assay_error *err);

/* Fills the sentence for a file that cannot be written because of errno `number`; returns IO. */
int as_outfile_refused(const char *path, int number, struct assay_error *err);

#endif
