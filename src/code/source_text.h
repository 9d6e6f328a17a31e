/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of source files, read from disk when asked for. A file that cannot be read, or is too
 * large to be source, has no lines: that is no error.
 */
#ifndef AS_CODE_SOURCE_TEXT_H
#define AS_CODE_SOURCE_TEXT_H

#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

struct as_source_file;

struct as_sources {
    AS_VEC(struct as_source_file *) file; /* by number of the debug tables; NULL = not tried */
};

/* Line `line` (from 1) of the file `path`, whose number is `number`; empty with p = NULL when
 * there is none. Borrowed until as_sources_fini. */
struct as_view as_source_line(struct as_sources *sources, uint32_t number, const char *path,
                              uint32_t line);
void as_sources_fini(struct as_sources *sources);

#endif
