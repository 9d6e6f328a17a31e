/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of a descriptor's terminal: existence, width, and use of colour (--color, NO_COLOR,
 * TERM). Writes nothing itself.
 */
#ifndef AS_BASE_TERM_H
#define AS_BASE_TERM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum as_color { AS_COLOR_AUTO, AS_COLOR_ALWAYS, AS_COLOR_NEVER };

/*
 * Returns true if the output of `fd` should be coloured. AUTO: only on a terminal, unless NO_COLOR
 * has a value (no-color.org) or TERM is "dumb" or unset.
 */
bool as_color_use(enum as_color color, int fd);

/* Returns true for a terminal with cursor movement; false for a file, a pipe or TERM=dumb. */
bool as_term_is(int fd);

/* Returns the columns of the terminal at `fd`; 80 if `fd` is not a terminal or the width is
 * unknown. */
size_t as_term_width(int fd);

/*
 * Returns the columns for text on `fd`: the width of a terminal, or 0 (no limit) for a file or a
 * pipe. Cut names would be lost in a file.
 */
size_t as_term_layout_width(int fd);

#endif
