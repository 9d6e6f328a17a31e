/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Telling an ELF64 x86-64 file from everything else a user may name by mistake.
 */
#ifndef AS_OBJECT_IDENTIFY_H
#define AS_OBJECT_IDENTIFY_H

#include <stdint.h>

#include <assay/error.h>

/* EM_K1OM: x86-64 as Knights Corner has it, with vectors of its own (MVEX). */
enum { AS_MACHINE_K1OM = 181 };

/* 0 when `bytes` start an ELF64 little-endian x86-64 or K1OM file with a whole ELF header of a type
 * that can be analysed; else the code and the sentence that names what the file is. */
int as_identify(const char *path, const uint8_t *bytes, uint64_t size_b, struct assay_error *err);

#endif
