/* SPDX-License-Identifier: Apache-2.0 */
/* Row ids by key. The map holds indices into a vector because its values are narrower than ids. */
#include "catalogue/internal.h"

void as_id_map_init(struct as_id_map *map)
{
    *map = (struct as_id_map){0};
    as_map_u64_init(&map->at);
}

void as_id_map_fini(struct as_id_map *map)
{
    as_map_u64_fini(&map->at);
    as_vec_fini(&map->id);
}

int64_t as_id_map_get(const struct as_id_map *map, uint64_t key)
{
    const uint32_t at = as_map_u64_get(&map->at, key);
    return at == AS_MAP_NONE ? 0 : map->id.at[at];
}

int as_id_map_put(struct as_id_map *map, uint64_t key, int64_t id)
{
    AS_TRY(as_vec_push(&map->id, id));
    return as_map_u64_put(&map->at, key, (uint32_t)(map->id.n - 1));
}
