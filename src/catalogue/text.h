/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of source files by path, for all modules: each file is read once, however many modules come
 * from it. One thread at a time.
 */
#ifndef AS_CATALOGUE_TEXT_H
#define AS_CATALOGUE_TEXT_H

#include "base/arena.h"
#include "base/map.h"
#include "code/source_text.h"

struct as_texts {
    struct as_map_view by_path; /* number among the sources */
    struct as_arena arena;      /* paths */
    struct as_sources sources;
};

void as_texts_init(struct as_texts *texts);
void as_texts_fini(struct as_texts *texts);
/* As as_source_line; also empty when memory is short. */
struct as_view as_texts_line(struct as_texts *texts, const char *path, uint32_t line);

#endif
