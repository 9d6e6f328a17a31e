/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash maps from 64-bit keys (addresses) or strings (names) to 32-bit indices into tables of the
 * caller. The hash table (uthash) is hidden. Insertion is not thread-safe.
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

/* A lookup returns it for a missing key. It is not a valid value. */
#define AS_MAP_NONE UINT32_MAX

struct as_map_u64 {
    struct as_map_u64_entry *head;
    struct as_arena arena; /* memory of the entries */
};

struct as_map_view {
    struct as_map_view_entry *head;
    struct as_arena arena;
};

void as_map_u64_init(struct as_map_u64 *map);
void as_map_u64_fini(struct as_map_u64 *map);
/* Sets the value of `key` and replaces an earlier value. Returns 0, or AS_ERR_NOMEM with the map
 * unchanged. */
int as_map_u64_put(struct as_map_u64 *map, uint64_t key, uint32_t value);
/* Returns the value of `key`, or AS_MAP_NONE if there is none. */
uint32_t as_map_u64_get(const struct as_map_u64 *map, uint64_t key);

void as_map_view_init(struct as_map_view *map);
void as_map_view_fini(struct as_map_view *map);
/* As as_map_u64_put. The bytes of `key` are borrowed and must outlive the map. */
int as_map_view_put(struct as_map_view *map, struct as_view key, uint32_t value);
uint32_t as_map_view_get(const struct as_map_view *map, struct as_view key);
size_t as_map_view_count(const struct as_map_view *map);

#endif
