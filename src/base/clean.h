/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes foreign text safe to show. Names, paths and sources come from files of others, and a
 * terminal obeys control characters. Control characters, bidirectional controls, line separators
 * and invalid UTF-8 become escapes: "\x1b" for bytes, "\u202e" for characters beyond ASCII. All
 * other UTF-8 stays.
 */
#ifndef AS_BASE_CLEAN_H
#define AS_BASE_CLEAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* size of the longest escape with its terminating zero */
#define AS_CLEAN_ESCAPE_B 8

/* Returns true for a control character: C0, DEL, C1, a bidirectional control or a line
 * separator. */
bool as_clean_is_control(uint32_t c);

/*
 * Returns the number of leading bytes of `s` that are safe to show. '\n' and '\t' are safe if
 * `lines` is set. If unsafe bytes follow, sets `*used` to their number and `escape` to the text
 * that replaces them.
 */
size_t as_clean_run(struct as_view s, bool lines, size_t *used, char escape[AS_CLEAN_ESCAPE_B]);

/* Appends `s` with escapes; '\n' and '\t' become blanks. Returns the width in terminal columns. */
size_t as_clean_append(struct as_str *to, struct as_view s);

#endif
