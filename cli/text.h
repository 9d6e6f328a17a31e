/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small text layout: wrapping and readable numbers.
 */
#ifndef AS_CLI_TEXT_H
#define AS_CLI_TEXT_H

#include <stdint.h>

#include "base/str.h"

/* Appends `text` from column `at`, breaking at blanks before `width`, further lines at `indent`;
 * ends the line. */
void as_wrap(struct as_str *out, const char *text, unsigned at, unsigned indent, unsigned width);

/* "6.5 MiB", "512 bytes". */
void as_append_size(struct as_str *out, uint64_t size_b);
/* "1,234,567". */
void as_append_count(struct as_str *out, uint64_t count);
/* "1 unit", "1,200 units". */
void as_append_counted(struct as_str *out, uint64_t count, const char *singular);

#endif
