/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one reader of text files that a user names: whole, with a limit, without blocking. For files
 * that are read in parts or mapped: base/untrusted_open.h opens them, base/filemap.h maps them.
 */
#ifndef AS_BASE_INFILE_H
#define AS_BASE_INFILE_H

#include <stddef.h>

#include <assay/error.h>

/* "-" is standard input; the pipe of a process substitution, <(command), is read as well. A FIFO
 * in a directory is refused as everywhere: opening it would wait for a writer. */
#define AS_INFILE_PIPE 1u

/*
 * Reads all of `path` into heap memory (`*out`, as_free it; zero-terminated). `what` names the file
 * in sentences ("the file of categories"). `limit_b`: the size that no such file exceeds, bytes.
 * Errors: NOT_FOUND, PERMISSION, NOT_REGULAR, UNSUPPORTED (larger than the limit), IO, LIMIT (no
 * descriptor left), NOMEM.
 */
int as_infile_read(const char *path, const char *what, size_t limit_b, unsigned bits, char **out,
                   size_t *n, struct assay_error *err);
/* The same for an open descriptor, which stays open. */
int as_infile_read_fd(int fd, const char *path, const char *what, size_t limit_b, char **out,
                      size_t *n, struct assay_error *err);
/* The same for text: a zero byte is CORRUPT. */
int as_infile_read_text(const char *path, const char *what, size_t limit_b, unsigned bits,
                        char **out, size_t *n, struct assay_error *err);

/* Takes the next line off `*rest` (zero-terminated, written to), without its end; NULL at the end
 * of the text. */
char *as_infile_line(char **rest);

#endif
