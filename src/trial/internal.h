/* SPDX-License-Identifier: Apache-2.0 */
/* The code of what a build made. */
#ifndef AS_TRIAL_INTERNAL_H
#define AS_TRIAL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>

/* Returns true if a file is a program or library for this machine, by its first bytes. */
bool as_code_is_program(const char *path);
/* Digest of the machine code of all programs and libraries below `directory`. Errors: NOMEM. */
int as_code_digest(const char *directory, uint64_t *out, struct assay_error *err);
/* Families of compilers that a file names: bits. */
#define AS_CODE_GCC      1u
#define AS_CODE_CLANG    2u
#define AS_CODE_GFORTRAN 4u
unsigned as_code_compilers(const char *path);

#endif
