/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long names of C++ functions told short: what a reader misses least goes first, and the class and
 * the function stay. Knows no grammar beyond brackets, operators and "::"; a name that it does not
 * understand stays as it is. web/src/parts/short_name.ts does the same for the page: both are held
 * to tests/golden/report/short-names.tsv.
 */
#ifndef AS_BASE_SHORT_NAME_H
#define AS_BASE_SHORT_NAME_H

#include <stddef.h>

#include "base/str.h"

/*
 * Appends `name`, short if it has more than `most` bytes: parameters become "(...)", the type of
 * the result and qualifiers go, template arguments become "<...>", outer scopes go, at last the
 * brackets. No more is taken than it needs; the last form may still be longer than `most`. The mark
 * " (inlined...)" behind a name stays; the function that it names gets half of `most` bytes.
 */
void as_short_name(struct as_str *to, const char *name, size_t most);

#endif
