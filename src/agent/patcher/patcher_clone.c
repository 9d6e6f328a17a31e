/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the clones of a module's regions and their stubs into memory within reach of it, and fills
 * in what depends on where both lie.
 */
#include "agent/patcher/patcher.h"
#include "agent/patcher/prober.h"
#include "agent/patcher/variant.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#define REACH   (UINT64_C(0x7ff00000)) /* of a jump, less a margin */
#define STEP_B  (UINT64_C(2) << 20)
#define LOWEST  UINT64_C(0x10000)
#define ENTRY_B 512u /* at most: stubs of an entry, and of an event of an edge */
#define EVENT_B 704u
#define EDGE_B  16u
#define LINE_B  64u
/* Of two places whose distance is a multiple of this predictors take one for the other: a jump over
 * a header that leads so far is foretold at the header of the clone, where there is none (Golden
 * Cove: 7 to 12 ns an instance instead of 0.5). */
#define ALIAS_B    (UINT64_C(1) << 24)
#define PAGE_UP(n) (((n) + AS_AGENT_PAGE_B - 1) & ~(uint64_t)(AS_AGENT_PAGE_B - 1))

/* ---- Room ----------------------------------------------------------------------------------- */

static void *try_at(uint64_t address, uint64_t size_b)
{
    void *at = mmap((void *)(uintptr_t)address, size_b, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != MAP_FAILED && (uintptr_t)at != address) { /* an old kernel takes it for a hint */
        munmap(at, size_b);
        at = MAP_FAILED;
    }
    return at == MAP_FAILED ? NULL : at;
}

/* Below the module first: the heap grows above the program. */
void *as_patcher_reach(uint64_t low, uint64_t high, uint64_t size_b)
{
    size_b = PAGE_UP(size_b);
    low &= ~(uint64_t)(AS_AGENT_PAGE_B - 1);
    const uint64_t lowest = high > REACH + LOWEST ? high - REACH : LOWEST;
    for (uint64_t gap = 0; low >= lowest + size_b + gap; gap += STEP_B) {
        void *at = try_at(low - size_b - gap, size_b);
        if (at)
            return at;
    }
    const uint64_t highest = low + REACH - size_b;
    for (uint64_t at = PAGE_UP(highest); at > PAGE_UP(high); at -= STEP_B) {
        void *got = try_at(at, size_b);
        if (got || at < STEP_B)
            return got;
    }
    return NULL;
}

static uint64_t room_for(const struct as_patch_plan *plan, const struct as_patch_region *region)
{
    const struct as_patch_edge *edge = as_patch_at(plan, &plan->edge);
    uint64_t size_b = region->plain.size_b + region->measured.size_b + ENTRY_B + 6 * LINE_B;
    for (uint64_t i = region->first_edge; i < (uint64_t)region->first_edge + region->edges; i++)
        size_b += EDGE_B + (uint64_t)edge[i].events * EVENT_B;
    const struct as_patch_variant *variant = as_patch_at(plan, &plan->variant);
    for (uint64_t i = region->first_variant; i < (uint64_t)region->first_variant + region->variants;
         i++)
        size_b += variant[i].code.size_b + 3 * LINE_B;
    return size_b;
}

/* ---- One clone ------------------------------------------------------------------------------ */

struct placing {
    const struct as_patch_plan *plan;
    struct as_patcher_module *module;
    struct as_patcher_code code;
    uint8_t **stub;      /* of the region's edges, less the first */
    const uint8_t *left; /* where its variants end, or points lead */
};

/* Where a template of the region goes, behind so much room: its header at the original's address
 * modulo a line. */
static uint8_t *place_template(struct placing *p, const struct as_patch_region *region,
                               const struct as_patch_template *t, uint32_t ahead_b)
{
    const uint64_t header = region->header + p->module->bias;
    uint64_t at = (uint64_t)(uintptr_t)p->code.at + ahead_b;
    at += (header - (at + t->header)) & (LINE_B - 1);
    if (((at + t->header - header) & (ALIAS_B - 1)) == 0)
        at += LINE_B;
    uint8_t *clone = (uint8_t *)(uintptr_t)at;
    if (t->size_b > (uint64_t)(p->code.end - clone))
        return NULL;
    memcpy(clone, (const uint8_t *)as_patch_at(p->plan, &p->plan->code) + t->code, t->size_b);
    p->code.at = clone + t->size_b;
    return clone;
}

static bool fits_4(int64_t value)
{
    return value == (int32_t)value;
}

static bool fill_places(const struct placing *p, const struct as_patch_region *region,
                        const struct as_patch_template *t, uint8_t *clone, uint8_t *const *stub)
{
    const struct as_patch_reloc *reloc = as_patch_at(p->plan, &p->plan->reloc);
    for (uint64_t i = t->first_reloc; i < (uint64_t)t->first_reloc + t->relocs; i++) {
        const int64_t here = (intptr_t)(clone + reloc[i].at + reloc[i].from);
        int64_t value;
        if (reloc[i].kind == AS_PATCH_TO_MODULE)
            value = (int64_t)(reloc[i].value + p->module->bias) - here;
        else if (reloc[i].kind == AS_PATCH_TO_EDGE)
            value = (intptr_t)stub[reloc[i].value - region->first_edge] - here;
        else if (reloc[i].kind == AS_PATCH_TO_AGENT)
            value = (intptr_t)p->left - here;
        else if (reloc[i].kind == AS_PATCH_TO_LIMIT)
            value = as_variant_limit_offset(reloc[i].value);
        else if (reloc[i].kind == AS_PATCH_TO_ADDRESSES)
            value = (int64_t)(AS_PATCHER_LOCAL_B + reloc[i].value);
        else if (reloc[i].kind == AS_PATCH_TO_THREAD)
            value = as_patcher_thread_offset();
        else
            value = (int64_t)(AS_PATCHER_LOCAL_B + as_patch_counters_at(p->plan->loop.n) +
                              reloc[i].value * sizeof(uint64_t));
        if (!fits_4(value))
            return false;
        const int32_t narrow = (int32_t)value;
        memcpy(clone + reloc[i].at, &narrow, sizeof narrow);
    }
    return true;
}

static bool place_variants(struct placing *p, const struct as_patch_region *region)
{
    const struct as_patch_variant *variant = as_patch_at(p->plan, &p->plan->variant);
    if (region->variants)
        p->left = as_variant_stub_left(&p->code);
    for (uint32_t i = region->first_variant; i < region->first_variant + region->variants; i++) {
        uint8_t *clone = place_template(p, region, &variant[i].code, 0);
        if (!clone || !fill_places(p, region, &variant[i].code, clone, p->stub))
            return false;
        as_patcher_map_template(p->module, &variant[i].code, clone);
        as_variants.entry[i] = clone + variant[i].enter;
    }
    return true;
}

static bool clone_region(struct placing *p, const struct as_patch_region *region,
                         struct as_patch_outcome *outcome)
{
    const struct as_patch_edge *edge = as_patch_at(p->plan, &p->plan->edge);
    const uint32_t ahead_b = as_patcher_counts_ahead(region) ? AS_PATCHER_AHEAD_B : 0;
    uint8_t *plain = NULL, *measured = NULL;
    if (region->plain.size_b && !(plain = place_template(p, region, &region->plain, ahead_b)))
        return false;
    if (region->measured.size_b && !(measured = place_template(p, region, &region->measured, 0)))
        return false;
    p->code.ahead = ahead_b ? plain - ahead_b : NULL;
    if (p->code.ahead)
        as_patcher_map_add(p->module, p->code.ahead, region->header + p->module->bias, 0, false);
    if (plain)
        as_patcher_map_template(p->module, &region->plain, plain);
    if (measured)
        as_patcher_map_template(p->module, &region->measured, measured);
    p->code.original = region->header + p->module->bias;
    /* All that an instance which is not measured runs stands in one line. */
    p->code.at += -(uintptr_t)p->code.at & (LINE_B - 1);
    const uint8_t *stubs = p->code.at;
    const uint8_t *entry = as_patcher_stub_entry(&p->code, region, plain + region->plain.header,
                                                 measured + region->measured.header);
    for (uint32_t i = 0; i < region->edges; i++)
        p->stub[i] = as_patcher_stub_edge(&p->code, &edge[region->first_edge + i], measured,
                                          p->module->bias);
    outcome->bias = p->module->bias;
    outcome->plain = (uintptr_t)plain;
    outcome->measured = (uintptr_t)measured;
    outcome->entry = (uintptr_t)entry;
    outcome->stubs_b = (uint64_t)(p->code.at - stubs);
    if (p->plan->mode == AS_PATCH_PROBE)
        p->left = as_prober_stub(&p->code);
    if (!place_variants(p, region))
        return false;
    as_patcher_map_add(p->module, p->code.at, 0, 0, false);
    return !p->code.full && (!plain || fill_places(p, region, &region->plain, plain, p->stub)) &&
           (!measured || fill_places(p, region, &region->measured, measured, p->stub));
}

/* ---- All of a module ------------------------------------------------------------------------ */

static bool stands_at(uint64_t at, int32_t hop, const uint8_t *original, const uint8_t *hole)
{
    const void *jump = (const void *)(uintptr_t)as_patch_jump_at(at, hop);
    if (!hop)
        return memcmp(jump, original, AS_PATCH_JUMP_B) == 0;
    return memcmp((const void *)(uintptr_t)at, original, AS_PATCH_HOP_B) == 0 &&
           memcmp(jump, hole, AS_PATCH_JUMP_B) == 0;
}

static bool is_original(const struct as_patch_plan *plan, const struct as_patch_region *region,
                        uint64_t bias)
{
    const struct as_patch_site *site = as_patch_at(plan, &plan->site);
    if (!stands_at(region->header + bias, region->hop, region->original, region->hole))
        return false;
    for (uint64_t i = region->first_site; i < (uint64_t)region->first_site + region->sites; i++) {
        if (!stands_at(site[i].address + bias, site[i].hop, site[i].original, site[i].hole))
            return false;
    }
    return true;
}

static void fail_all(const struct as_patch_module *module, uint32_t kind, int error)
{
    for (uint64_t r = module->first_region; r < (uint64_t)module->first_region + module->regions;
         r++) {
        as_patcher_outcome(r)->kind = kind;
        as_patcher_outcome(r)->error = (uint32_t)error;
    }
}

static bool make_cache(const struct as_patch_module *planned, struct as_patcher_module *module)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    uint64_t size_b = 0, edges = 0;
    for (uint64_t r = planned->first_region; r < (uint64_t)planned->first_region + planned->regions;
         r++) {
        size_b += room_for(plan, &region[r]);
        edges = region[r].edges > edges ? region[r].edges : edges;
    }
    /* The places of a region's stubs are noted behind it all. */
    size_b = (size_b + 7) / 8 * 8 + edges * sizeof(uint8_t *);
    module->cache_b = PAGE_UP(size_b);
    module->cache = as_patcher_reach(planned->low + module->bias, planned->high + module->bias,
                                     module->cache_b);
    module->used_b = module->cache_b - edges * sizeof(uint8_t *);
    return module->cache;
}

void as_patcher_clone_module(uint64_t m)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_module *planned =
        (const struct as_patch_module *)as_patch_at(plan, &plan->module) + m;
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    struct as_patcher_module *module = &as_patcher.module[m];
    if (planned->regions == 0)
        return;
    if (!as_patcher.counts_here) {
        fail_all(planned, AS_PATCH_DENIED, EBUSY);
        return;
    }
    if (!make_cache(planned, module)) {
        fail_all(planned, AS_PATCH_NO_ROOM, ENOMEM);
        return;
    }
    struct placing p = {
        .plan = plan,
        .module = module,
        .code = {.at = module->cache, .end = module->cache + module->used_b, .module = module},
        .stub = (uint8_t **)(void *)(module->cache + module->used_b)};
    as_patcher_map_begin(m);
    for (uint64_t r = planned->first_region; r < (uint64_t)planned->first_region + planned->regions;
         r++) {
        struct as_patch_outcome *outcome = as_patcher_outcome(r);
        if (!is_original(plan, &region[r], module->bias))
            outcome->kind = AS_PATCH_DIFFERS;
        else
            outcome->kind =
                clone_region(&p, &region[r], outcome) ? AS_PATCH_DONE : AS_PATCH_NO_ROOM;
    }
    as_patcher_map_end(module);
    if (mprotect(module->cache, module->cache_b, PROT_READ | PROT_EXEC) < 0)
        fail_all(planned, AS_PATCH_DENIED, errno);
}
