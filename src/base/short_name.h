/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortens long names of C++ functions. The class and the function stay; less useful parts go
 * first. The file knows only brackets, operators and "::". A name with any other structure stays
 * unchanged. web/src/parts/short_name.ts does the same for the page;
 * tests/golden/report/short-names.tsv compares both.
 */
#ifndef AS_BASE_SHORT_NAME_H
#define AS_BASE_SHORT_NAME_H

#include <stddef.h>

#include "base/str.h"

/*
 * Appends `name`. A name of more than `most` bytes is shortened step by step until it fits:
 * parameters become "(...)", the result type and qualifiers go, template arguments become "<...>",
 * outer scopes go, at last the brackets. The shortest form may still exceed `most`. The mark "
 * (inlined...)" behind a name stays. The function named in the mark gets half of `most` bytes.
 */
void as_short_name(struct as_str *to, const char *name, size_t most);

#endif
