/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map of a module's clones and stubs (code_map.h). Pieces come in the order of their addresses,
 * as code is written.
 */
#include "agent/patcher/patcher.h"

#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"

#define ENTRY_PIECES 64u /* of a stub at most */
#define EVENT_PIECES 64u

static struct as_code_piece *pieces_of(struct as_code_map *map)
{
    return (struct as_code_piece *)(map + 1);
}

static uint64_t pieces_at_most(const struct as_patch_plan *plan,
                               const struct as_patch_module *planned)
{
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    const struct as_patch_edge *edge = as_patch_at(plan, &plan->edge);
    uint64_t n = 2;
    for (uint64_t r = planned->first_region; r < (uint64_t)planned->first_region + planned->regions;
         r++) {
        n += 2 * (uint64_t)region[r].plain.spans + 2 * (uint64_t)region[r].measured.spans + 4 +
             ENTRY_PIECES;
        for (uint64_t e = region[r].first_edge;
             e < (uint64_t)region[r].first_edge + region[r].edges; e++)
            n += 1 + (uint64_t)edge[e].events * EVENT_PIECES;
    }
    return n;
}

void as_patcher_map_begin(uint64_t m)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_module *planned =
        (const struct as_patch_module *)as_patch_at(plan, &plan->module) + m;
    const struct as_patcher_part *part = as_agent_part(&as_agent_patcher);
    struct as_patcher_module *module = &as_patcher.module[m];
    char name[AS_AGENT_FILE_B];
    if (!part || !part->map)
        return;
    module->pieces = pieces_at_most(plan, planned);
    module->map_b = sizeof *module->map + module->pieces * sizeof(struct as_code_piece);
    as_agent_file_name(AS_CODE_MAP_PREFIX, name);
    module->map = as_agent_map_shared(name, module->map_b);
    if (!module->map)
        return;
    module->map->version = AS_CODE_MAP_VERSION;
    module->map->pid = (uint32_t)as_agent.pid;
    module->map->start = (uintptr_t)module->cache;
    module->map->size_b = module->cache_b;
    module->map->begun_ns = as_monotonic_ns();
}

void as_patcher_map_add(struct as_patcher_module *module, const uint8_t *at, uint64_t original,
                        uint32_t depth_b, bool steps)
{
    struct as_code_map *map = module->map;
    if (!map || at < module->cache)
        return;
    const struct as_code_piece piece = {.original = original,
                                        .at = (uint32_t)(at - module->cache),
                                        .depth_b = (uint16_t)depth_b,
                                        .steps = steps};
    struct as_code_piece *last = map->n ? &pieces_of(map)[map->n - 1] : NULL;
    if (last && last->at == piece.at)
        *last = piece; /* nothing was written in between */
    else if (map->n < module->pieces)
        pieces_of(map)[map->n++] = piece;
}

void as_patcher_map_template(struct as_patcher_module *module, const struct as_patch_template *t,
                             const uint8_t *clone)
{
    const struct as_patch_span *span =
        (const struct as_patch_span *)as_patch_at(as_patcher.plan, &as_patcher.plan->span) +
        t->first_span;
    for (uint32_t i = 0; i < t->spans; i++)
        as_patcher_map_add(module, clone + span[i].at, span[i].address + module->bias,
                           span[i].depth_b, span[i].size_b == span[i].original_b);
    as_patcher_map_add(module, clone + t->size_b, 0, 0, false);
}

void as_patcher_map_end(struct as_patcher_module *module)
{
    if (module->map)
        __atomic_store_n(&module->map->magic, AS_CODE_MAP_MAGIC, __ATOMIC_RELEASE);
}

void as_patcher_map_gone(struct as_patcher_module *module)
{
    if (!module->map)
        return;
    __atomic_store_n(&module->map->ended_ns, as_monotonic_ns(), __ATOMIC_RELEASE);
    munmap(module->map, module->map_b);
    module->map = NULL;
}

/* The child of a fork has the same code, and a map of its own, for what goes there stays here. */
void as_patcher_map_forked(struct as_patcher_module *module)
{
    struct as_code_map *parent = module->map;
    char name[AS_AGENT_FILE_B];
    module->map = NULL;
    if (!parent)
        return;
    as_agent_file_name(AS_CODE_MAP_PREFIX, name);
    struct as_code_map *own =
        as_agent.state == AS_AGENT_READY ? as_agent_map_shared(name, module->map_b) : NULL;
    if (own) {
        memcpy(&own->version, &parent->version, module->map_b - sizeof own->magic);
        own->pid = (uint32_t)as_agent.pid;
        own->begun_ns = as_monotonic_ns();
        own->ended_ns = 0;
    }
    munmap(parent, module->map_b);
    module->map = own;
    as_patcher_map_end(module);
}
