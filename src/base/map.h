/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash maps to 32-bit indices: from 64-bit keys (addresses) and from strings (names). They contain
 * indices into the caller's tables. The hash table (uthash) is hidden. Not thread-safe during
 * insertion.
 */
#ifndef AS_BASE_MAP_H
#define AS_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct as_map_u64_entry;
struct as_map_view_entry;

/* Result of a lookup without the key; not a valid value. */
#define AS_MAP_NONE UINT32_MAX

struct as_map_u64 {
    struct as_map_u64_entry *head;
    struct as_arena arena; /* the entries */
};

struct as_map_view {
    struct as_map_view_entry *head;
    struct as_arena arena;
};

void as_map_u64_init(struct as_map_u64 *map);
void as_map_u64_fini(struct as_map_u64 *map);
/* Sets the value of `key`, replacing an earlier one; 0 or ASSAY_ERR_NOMEM (map unchanged). */
int as_map_u64_put(struct as_map_u64 *map, uint64_t key, uint32_t value);
/* The value of `key` or AS_MAP_NONE. */
uint32_t as_map_u64_get(const struct as_map_u64 *map, uint64_t key);

void as_map_view_init(struct as_map_view *map);
void as_map_view_fini(struct as_map_view *map);
/* As for numbers. The bytes of `key` are borrowed and must outlive the map. */
int as_map_view_put(struct as_map_view *map, struct as_view key, uint32_t value);
uint32_t as_map_view_get(const struct as_map_view *map, struct as_view key);
size_t as_map_view_count(const struct as_map_view *map);

#endif
