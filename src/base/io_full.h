/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All of it or a failure: reading and writing files where the kernel takes or gives less than was
 * asked, or a signal comes between. For descriptors that block.
 */
#ifndef AS_BASE_IO_FULL_H
#define AS_BASE_IO_FULL_H

#include <stddef.h>
#include <sys/types.h>

/* 0, or errno; ENOSPC where the kernel takes nothing and says no more. */
int as_whole_write(int fd, const void *p, size_t n);
/* How many bytes came: fewer than `n` at the end of the file (errno is 0) or at a failure. */
size_t as_whole_read(int fd, void *p, size_t n);
/* Reads a small file of the kernel (/proc, /sys), up to `text_b` - 1 bytes, zero-terminated
 * (`text_b` >= 1). Returns the number of bytes, or -1 with errno and an empty text. */
ssize_t as_whole_text(const char *path, char *text, size_t text_b);

#endif
