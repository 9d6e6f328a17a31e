/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The maps, on uthash. Its tables come from as_malloc. If an insertion runs out of memory, uthash
 * undoes the insertion and sets the flag of the entry. Entries lie in an arena.
 */
#include "base/map.h"

#include "base/alloc.h"
#include "base/error.h"

#define HASH_NONFATAL_OOM        1
#define uthash_malloc(size_b)    as_malloc(size_b)
#define uthash_free(p, size_b)   as_free(p)
#define uthash_nonfatal_oom(obj) ((obj)->refused = true)
#include <uthash.h>

struct as_map_u64_entry {
    uint64_t key;
    uint32_t value;
    bool refused; /* uthash had no memory to add the entry */
    UT_hash_handle hh;
};

struct as_map_view_entry {
    uint32_t value;
    bool refused;
    UT_hash_handle hh; /* contains the address and length of the key */
};

static struct as_map_u64_entry *u64_find(const struct as_map_u64 *map, uint64_t key)
{
    struct as_map_u64_entry *entry;
    HASH_FIND(hh, map->head, &key, sizeof key, entry);
    return entry;
}

void as_map_u64_init(struct as_map_u64 *map)
{
    map->head = NULL;
    as_arena_init(&map->arena);
}

void as_map_u64_fini(struct as_map_u64 *map)
{
    HASH_CLEAR(hh, map->head);
    as_arena_fini(&map->arena);
}

/* NOLINTNEXTLINE(readability-function-size): the macro of uthash counts as ours */
int as_map_u64_put(struct as_map_u64 *map, uint64_t key, uint32_t value)
{
    struct as_map_u64_entry *entry = u64_find(map, key);
    if (entry) {
        entry->value = value;
        return 0;
    }
    entry = as_arena_new(&map->arena, struct as_map_u64_entry);
    if (!entry)
        return AS_ERR_NOMEM;
    entry->key = key;
    entry->value = value;
    HASH_ADD(hh, map->head, key, sizeof entry->key, entry);
    return entry->refused ? AS_ERR_NOMEM : 0;
}

uint32_t as_map_u64_get(const struct as_map_u64 *map, uint64_t key)
{
    const struct as_map_u64_entry *entry = u64_find(map, key);
    return entry ? entry->value : AS_MAP_NONE;
}

/* uthash stores the key length as `unsigned`. */
static bool too_long(struct as_view key)
{
    return key.n > UINT32_MAX;
}

static struct as_map_view_entry *view_find(const struct as_map_view *map, struct as_view key)
{
    struct as_map_view_entry *entry;
    const char *p = key.n ? key.p : "";
    HASH_FIND(hh, map->head, p, (unsigned)key.n, entry);
    return entry;
}

void as_map_view_init(struct as_map_view *map)
{
    map->head = NULL;
    as_arena_init(&map->arena);
}

void as_map_view_fini(struct as_map_view *map)
{
    HASH_CLEAR(hh, map->head);
    as_arena_fini(&map->arena);
}

/* NOLINTNEXTLINE(readability-function-size): the macro of uthash counts as ours */
int as_map_view_put(struct as_map_view *map, struct as_view key, uint32_t value)
{
    if (too_long(key))
        return AS_ERR_NOMEM;
    struct as_map_view_entry *entry = view_find(map, key);
    if (entry) {
        entry->value = value;
        return 0;
    }
    entry = as_arena_new(&map->arena, struct as_map_view_entry);
    if (!entry)
        return AS_ERR_NOMEM;
    entry->value = value;
    const char *p = key.n ? key.p : "";
    HASH_ADD_KEYPTR(hh, map->head, p, (unsigned)key.n, entry);
    return entry->refused ? AS_ERR_NOMEM : 0;
}

uint32_t as_map_view_get(const struct as_map_view *map, struct as_view key)
{
    const struct as_map_view_entry *entry = too_long(key) ? NULL : view_find(map, key);
    return entry ? entry->value : AS_MAP_NONE;
}

size_t as_map_view_count(const struct as_map_view *map)
{
    return HASH_COUNT(map->head);
}
