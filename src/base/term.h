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
 * Returns true to colour the output of `fd`. AUTO: only on a terminal, unless NO_COLOR is set to
 * something (no-color.org) or TERM is "dumb" or unset.
 */
bool as_color_use(enum as_color color, int fd);

/* True for a terminal that understands cursor movement: not a file, a pipe or TERM=dumb. */
bool as_term_is(int fd);

/* Columns of the terminal at `fd`; 80 where it is none or does not tell. */
size_t as_term_width(int fd);

/*
 * Columns to lay text out in for `fd`: those of a terminal, 0 (no limit) for a file or a pipe,
 * where cutting names would lose them.
 */
size_t as_term_layout_width(int fd);

#endif
