/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads lines of source files from disk on demand. A file that is unreadable or too large for
 * source code has no lines; this is not an error.
 */
#ifndef AS_CODE_SOURCE_TEXT_H
#define AS_CODE_SOURCE_TEXT_H

#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

struct as_source_file;

struct as_sources {
    AS_VEC(struct as_source_file *) file; /* by file number of the debug tables; NULL = not tried */
};

/* Returns line `line` (from 1) of the file `path` with number `number`. Returns an empty view with
 * p = NULL if the line is missing. `sources` owns the text until as_sources_fini. */
struct as_view as_source_line(struct as_sources *sources, uint32_t number, const char *path,
                              uint32_t line);
void as_sources_fini(struct as_sources *sources);

#endif
