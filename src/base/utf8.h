/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes UTF-8 with replacement of invalid bytes, and counts the terminal columns of a text. Works
 * on bytes in every locale. Unicode 15 chapter 3.9, table 3-7.
 */
#ifndef AS_BASE_UTF8_H
#define AS_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define AS_UTF8_REPLACEMENT   0xfffdu
#define AS_UTF8_REPLACEMENT_Z "\xef\xbf\xbd"

/*
 * Decodes the character at `p` (`n` >= 1 readable bytes) into `*c`. Returns its length, 1 to 4
 * bytes. For an invalid sequence sets `*c` to the replacement character and returns minus the bytes
 * to skip: the longest prefix of a valid sequence, at least 1.
 */
int as_utf8_next(const char *p, size_t n, uint32_t *c);

/* Returns the terminal columns of a character: 0 for combining marks, 2 for wide East Asian and
 * emoji, otherwise 1. */
unsigned as_utf8_columns(uint32_t c);

/* Returns the terminal columns of a text. An invalid sequence counts as one replacement
 * character. */
size_t as_utf8_width(struct as_view s);

#endif
