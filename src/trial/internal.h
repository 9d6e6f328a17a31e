/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code and compilers of built programs. */
#ifndef AS_TRIAL_INTERNAL_H
#define AS_TRIAL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Returns true if the first bytes of a file are those of a program or library for this machine. */
bool as_code_is_program(const char *path);
/* Computes the digest of the machine code of all programs and libraries below `directory`.
 * Errors: NOMEM. */
int as_code_digest(const char *directory, uint64_t *out, struct as_error *err);
/* Bits of the compiler families that a file names. as_code_compilers returns 0 if it cannot read
 * the file. */
#define AS_CODE_GCC      1u
#define AS_CODE_CLANG    2u
#define AS_CODE_GFORTRAN 4u
unsigned as_code_compilers(const char *path);

#endif
