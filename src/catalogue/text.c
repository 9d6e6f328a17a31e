/* SPDX-License-Identifier: Apache-2.0 */
/* Paths are numbered in the order of their first lookup. */
#include "catalogue/text.h"

#include <string.h>

void as_texts_init(struct as_texts *texts)
{
    *texts = (struct as_texts){0};
    as_map_view_init(&texts->by_path);
    as_arena_init(&texts->arena);
}

void as_texts_fini(struct as_texts *texts)
{
    as_sources_fini(&texts->sources);
    as_map_view_fini(&texts->by_path);
    as_arena_fini(&texts->arena);
}

struct as_view as_texts_line(struct as_texts *texts, const char *path, uint32_t line)
{
    const struct as_view none = {NULL, 0};
    uint32_t number = as_map_view_get(&texts->by_path, as_view_of(path));
    if (number == AS_MAP_NONE) {
        const char *copy = as_arena_strndup(&texts->arena, path, strlen(path));
        number = (uint32_t)as_map_view_count(&texts->by_path);
        if (!copy || as_map_view_put(&texts->by_path, as_view_of(copy), number) < 0)
            return none;
    }
    return as_source_line(&texts->sources, number, path, line);
}
