/* SPDX-License-Identifier: Apache-2.0 */
/* Matches names against patterns: `*` is any text, `?` any one byte, `[a-cx]` one byte of a set.
 * All other bytes, including blanks and slashes, match themselves. So does a bracket without its
 * end. */
#ifndef AS_BASE_GLOB_H
#define AS_BASE_GLOB_H

#include <stdbool.h>

#include "base/str.h"

bool as_glob_match(struct as_view glob, struct as_view text);
bool as_glob_plain(struct as_view glob);      /* true if the pattern has no wildcard */
size_t as_glob_literals(struct as_view glob); /* bytes outside `*` and `?`; a set counts as one */

#endif
