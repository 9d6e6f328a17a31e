/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes jumps over the program's code, and takes them away.
 */
#include "agent/patcher/patcher.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/patcher/patcher_stop.h"

/* ---- Rights --------------------------------------------------------------------------------- */

/* Pages around the places to be written, made writable and executable or as they were. */
static int open_pages(uint64_t bias, uint64_t first, uint64_t end, bool writable)
{
    const uint64_t low = (first + bias) & ~(uint64_t)(AS_AGENT_PAGE_B - 1);
    const uint64_t high = (end + bias + AS_AGENT_PAGE_B - 1) & ~(uint64_t)(AS_AGENT_PAGE_B - 1);
    return mprotect((void *)(uintptr_t)low, high - low,
                    PROT_READ | PROT_EXEC | (writable ? PROT_WRITE : 0)) < 0
               ? -errno
               : 0;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

static void write_jump(uint64_t place, int32_t hop, uint64_t to)
{
    const uint64_t at = as_patch_jump_at(place, hop);
    const uint8_t leads[AS_PATCH_HOP_B] = {0xeb, (uint8_t)hop};
    uint8_t bytes[AS_PATCH_JUMP_B] = {0xe9};
    const int32_t distance = (int32_t)(to - (at + AS_PATCH_JUMP_B));
    memcpy(bytes + 1, &distance, sizeof distance);
    memcpy((void *)(uintptr_t)at, bytes, sizeof bytes);
    if (hop)
        memcpy((void *)(uintptr_t)place, leads, sizeof leads);
}

static void write_back(uint64_t place, int32_t hop, const uint8_t *original, const uint8_t *hole)
{
    memcpy((void *)(uintptr_t)place, original, hop ? AS_PATCH_HOP_B : AS_PATCH_JUMP_B);
    if (hop)
        memcpy((void *)(uintptr_t)as_patch_jump_at(place, hop), hole, AS_PATCH_JUMP_B);
}

/* The clone that control comes back to from a place of the original. */
static uint64_t back_to(const struct as_patch_outcome *outcome, const struct as_patch_site *site)
{
    /* A sampled region with such places always runs measured: see patcher_stub.c. */
    return outcome->measured ? outcome->measured + site->measured : outcome->plain + site->plain;
}

static void write_region(const struct as_patch_plan *plan, const struct as_patch_region *region,
                         const struct as_patch_outcome *outcome, bool undo)
{
    const struct as_patch_site *site = as_patch_at(plan, &plan->site);
    const uint64_t bias = outcome->bias;
    for (uint64_t i = region->first_site; i < (uint64_t)region->first_site + region->sites; i++) {
        if (undo)
            write_back(site[i].address + bias, site[i].hop, site[i].original, site[i].hole);
        else
            write_jump(site[i].address + bias, site[i].hop, back_to(outcome, &site[i]));
    }
    if (undo)
        write_back(region->header + bias, region->hop, region->original, region->hole);
    else
        write_jump(region->header + bias, region->hop, outcome->entry);
}

/* ---- A module ------------------------------------------------------------------------------- */

static void widen_range(uint64_t place, int32_t hop, uint64_t *first, uint64_t *end)
{
    const uint64_t jump = as_patch_jump_at(place, hop);
    const uint64_t low = jump < place ? jump : place, high = (jump < place ? place : jump) + 8;
    *first = low < *first ? low : *first;
    *end = high > *end ? high : *end;
}

/* The addresses of the file between which a module's regions are written. */
static bool range_of(const struct as_patch_plan *plan, const struct as_patch_module *planned,
                     uint64_t *first, uint64_t *end)
{
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    const struct as_patch_site *site = as_patch_at(plan, &plan->site);
    *first = UINT64_MAX;
    *end = 0;
    for (uint64_t r = planned->first_region; r < (uint64_t)planned->first_region + planned->regions;
         r++) {
        if (as_patcher_outcome(r)->kind != AS_PATCH_DONE)
            continue;
        widen_range(region[r].header, region[r].hop, first, end);
        for (uint64_t i = region[r].first_site;
             i < (uint64_t)region[r].first_site + region[r].sites; i++)
            widen_range(site[i].address, site[i].hop, first, end);
    }
    return *first < *end;
}

static void fail_done(const struct as_patch_module *planned, uint32_t kind, int error)
{
    for (uint64_t r = planned->first_region; r < (uint64_t)planned->first_region + planned->regions;
         r++) {
        if (as_patcher_outcome(r)->kind != AS_PATCH_DONE)
            continue;
        as_patcher_outcome(r)->kind = kind;
        as_patcher_outcome(r)->error = (uint32_t)error;
    }
}

static bool is_of_template(const struct as_patch_template *t, uint64_t address)
{
    const struct as_patch_span *span = as_patch_at(as_patcher.plan, &as_patcher.plan->span);
    for (uint64_t i = t->first_span; i < (uint64_t)t->first_span + t->spans; i++)
        if (address - span[i].address < span[i].original_b)
            return true;
    return false;
}

bool as_patcher_is_original(const struct as_patch_region *region, uint64_t address)
{
    return is_of_template(&region->plain, address) || is_of_template(&region->measured, address);
}

/* Whether a thread stands in the original code of a region: it would go on there, and could come to
 * a block that a jump has spilled over. Who called from there comes back into the clone. */
static bool is_in_region(uint64_t m, uint64_t address)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_module *planned =
        (const struct as_patch_module *)as_patch_at(plan, &plan->module) + m;
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    const uint64_t at = address - as_patcher.module[m].bias;
    if (at < planned->low || at >= planned->high)
        return false;
    for (uint64_t r = planned->first_region; r < (uint64_t)planned->first_region + planned->regions;
         r++) {
        if (as_patcher_outcome(r)->kind == AS_PATCH_DONE && as_patcher_is_original(&region[r], at))
            return true;
    }
    return false;
}

static bool is_done(uint64_t region)
{
    return as_patcher_outcome(region)->kind == AS_PATCH_DONE;
}

int as_patcher_write_regions(uint64_t m, bool undo, bool (*is_chosen)(uint64_t region))
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_module *planned =
        (const struct as_patch_module *)as_patch_at(plan, &plan->module) + m;
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    const uint64_t bias = as_patcher.module[m].bias;
    uint64_t first, end;
    if (!range_of(plan, planned, &first, &end))
        return 0;
    const int error = open_pages(bias, first, end, true);
    for (uint64_t r = planned->first_region;
         !error && r < (uint64_t)planned->first_region + planned->regions; r++) {
        if (is_done(r) && is_chosen(r))
            write_region(plan, &region[r], as_patcher_outcome(r), undo);
    }
    if (!error)
        open_pages(bias, first, end, false);
    return error;
}

void as_patcher_write_module(uint64_t m, bool undo)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_module *planned =
        (const struct as_patch_module *)as_patch_at(plan, &plan->module) + m;
    uint64_t first, end;
    if (!range_of(plan, planned, &first, &end))
        return;
    int error = as_patcher_stop(m, is_in_region);
    if (error) {
        if (!undo)
            fail_done(planned, AS_PATCH_THREADS, error);
        return;
    }
    error = -as_patcher_write_regions(m, undo, is_done);
    as_patcher_go_on();
    if (error && !undo)
        fail_done(planned, AS_PATCH_DENIED, error);
}
