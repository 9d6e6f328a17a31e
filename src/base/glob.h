/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of names: `*` any text, `?` any one byte, `[a-cx]` one of a set; nothing else is
 * special, and a bracket that is not closed is itself. Blanks and slashes are bytes like others. */
#ifndef AS_BASE_GLOB_H
#define AS_BASE_GLOB_H

#include <stdbool.h>

#include "base/str.h"

bool as_glob_match(struct as_view glob, struct as_view text);
bool as_glob_plain(struct as_view glob);      /* matches one text alone: itself */
size_t as_glob_literals(struct as_view glob); /* bytes that stand for themselves; a set is one */

#endif
