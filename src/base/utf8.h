/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8: decoding with replacement of what is invalid, and how many terminal columns a character
 * takes. Works on bytes, independent of the locale. Unicode 15 chapter 3.9, table 3-7.
 */
#ifndef AS_BASE_UTF8_H
#define AS_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define AS_UTF8_REPLACEMENT   0xfffdu
#define AS_UTF8_REPLACEMENT_Z "\xef\xbf\xbd"

/*
 * Decodes the character at `p` (`n` >= 1 bytes are readable) into `*c` and returns its bytes, 1 to
 * 4. Invalid: returns minus the bytes to skip (the longest prefix of a well-formed sequence, at
 * least 1), with `*c` the replacement character.
 */
int as_utf8_next(const char *p, size_t n, uint32_t *c);

/* Columns of a terminal: 0 for combining marks, 2 for wide East Asian and emoji, else 1. */
unsigned as_utf8_columns(uint32_t c);

/* Columns of a whole text; an invalid sequence counts as one replacement character. */
size_t as_utf8_width(struct as_view s);

#endif
