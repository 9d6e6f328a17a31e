/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files without a name in $TMPDIR or /tmp. Errors: IO, NOMEM. */
#ifndef AS_EXCHANGE_SCRATCH_H
#define AS_EXCHANGE_SCRATCH_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

int as_scratch_open(int *fd, struct as_error *err);
/* Writes at `*end` and moves it. */
int as_scratch_write(int fd, const void *p, size_t n, off_t *end, struct as_error *err);
/* Reads all `n` bytes at `at`, or returns an error. */
int as_scratch_read(int fd, void *p, size_t n, off_t at, struct as_error *err);

#endif
