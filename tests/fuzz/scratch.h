/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory for entries with parsers that read files: in memory if the system has such a file
 * system. Each process has its own and removes it at its end.
 */
#ifndef TESTS_FUZZ_SCRATCH_H
#define TESTS_FUZZ_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

/* The directory, made at the first call. Aborts when it cannot be. */
const char *scratch_directory(void);
/* The path of `name` in it; good until the next call but three. */
const char *scratch_path(const char *name);
/* Makes or overwrites the file, of exactly these bytes. */
const char *scratch_write(const char *name, const void *bytes, size_t size_b);
/* Removes what is in the directory, and what is in that. */
void scratch_empty(void);

#endif
