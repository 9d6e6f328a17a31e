/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads complete text files that a user names, with a size limit and without blocking. For files
 * that are mapped or read in parts, see base/untrusted_open.h and base/filemap.h.
 */
#ifndef AS_BASE_INFILE_H
#define AS_BASE_INFILE_H

#include <stddef.h>

#include "base/error.h"

/* Accepts "-" (standard input) and the pipe of a process substitution, <(command). A FIFO in a
 * directory is still refused: opening it would wait for a writer. */
#define AS_INFILE_PIPE 1u

/*
 * Reads the file `path` into zero-terminated heap memory; the caller releases `*out` with as_free.
 * `*n` is its size in bytes. `what` names the file in errors ("the file of categories"). `limit_b`
 * is the largest accepted size in bytes. Errors: NOT_FOUND, PERMISSION, NOT_REGULAR, UNSUPPORTED
 * (larger than the limit), IO, LIMIT (no descriptor left), NOMEM.
 */
int as_infile_read(const char *path, const char *what, size_t limit_b, unsigned bits, char **out,
                   size_t *n, struct as_error *err);
/* As as_infile_read, for an open descriptor; the descriptor stays open. */
int as_infile_read_fd(int fd, const char *path, const char *what, size_t limit_b, char **out,
                      size_t *n, struct as_error *err);
/* As as_infile_read, for text: a zero byte is CORRUPT. */
int as_infile_read_text(const char *path, const char *what, size_t limit_b, unsigned bits,
                        char **out, size_t *n, struct as_error *err);

/* Returns the next line of `*rest` without its end and moves `*rest` behind it; NULL at the end of
 * the text. The text is zero-terminated and modified. */
char *as_infile_line(char **rest);

#endif
