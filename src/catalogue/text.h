/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source lines by path, shared by all modules. Each file is read once, even if several modules come
 * from it. Not thread-safe.
 */
#ifndef AS_CATALOGUE_TEXT_H
#define AS_CATALOGUE_TEXT_H

#include "base/arena.h"
#include "base/map.h"
#include "code/source_text.h"

struct as_texts {
    struct as_map_view by_path; /* path -> index in `sources` */
    struct as_arena arena;      /* holds the paths */
    struct as_sources sources;
};

void as_texts_init(struct as_texts *texts);
void as_texts_fini(struct as_texts *texts);
/* Returns a line as as_source_line does; also empty if memory runs out. */
struct as_view as_texts_line(struct as_texts *texts, const char *path, uint32_t line);

#endif
