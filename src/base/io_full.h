/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Complete reads and writes, for descriptors that block. read(2) and write(2) may transfer fewer
 * bytes than requested, or stop at a signal.
 */
#ifndef AS_BASE_IO_FULL_H
#define AS_BASE_IO_FULL_H

#include <stddef.h>
#include <sys/types.h>

/* Writes all `n` bytes. Returns 0 or errno; ENOSPC if the kernel accepts no byte without an
 * error. */
int as_whole_write(int fd, const void *p, size_t n);
/* Reads up to `n` bytes. Returns the number of bytes read. It is below `n` at the end of the file
 * (errno is 0) or after a failure (errno is set). */
size_t as_whole_read(int fd, void *p, size_t n);
/* Reads a small file of the kernel (/proc, /sys), up to `text_b` - 1 bytes, zero-terminated
 * (`text_b` >= 1). Returns the number of bytes, or -1 with errno and an empty text. */
ssize_t as_whole_text(const char *path, char *text, size_t text_b);

#endif
