/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises ELF64 x86-64 files, and names the format of any other file.
 */
#ifndef AS_OBJECT_IDENTIFY_H
#define AS_OBJECT_IDENTIFY_H

#include <stdint.h>

#include "base/error.h"

/* EM_K1OM: the x86-64 of Knights Corner, with MVEX vector instructions. */
enum { AS_MACHINE_K1OM = 181 };

/* Checks the first bytes of a file. Returns 0 for an ELF64 little-endian x86-64 or K1OM file with a
 * complete ELF header of a supported type. Else returns an error, and its message names the format
 * of the file. Errors: NOT_ELF, ARCH, CLASS, TRUNCATED, CORRUPT, UNSUPPORTED (a core dump). */
int as_identify(const char *path, const uint8_t *bytes, uint64_t size_b, struct as_error *err);

#endif
