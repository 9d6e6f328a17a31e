/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One instance: the run that tells what it is, and one as a variant, whose effects are taken back.
 */
#include "agent/patcher/variant.h"

/* A millisecond's iterations are no more, however short they are. */
#define TRIPS_A_MS (UINT64_C(1) << 18)

const struct as_patch_variant *as_variant_of(const struct as_patch_region *region)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    return (const struct as_patch_variant *)as_patch_at(plan, &plan->variant) +
           region->first_variant;
}

bool as_variant_run_at(struct as_variant_area *area, const uint8_t *entry)
{
    area->local.target = (uint64_t)(uintptr_t)entry;
    area->guard = AS_VARIANT_RUNS;
    as_variant_run(area);
    area->guard = AS_VARIANT_FREE;
    __asm__ volatile("ldmxcsr %0" ::"m"((uint32_t){0x1f80}));
    return !(area->flags & (AS_VARIANT_FAULTED | AS_VARIANT_ENDLESS));
}

/* The program's modes of rounding, and no exception: data are not the program's. */
static void prepare_state(struct as_variant_area *area)
{
    uint32_t mxcsr;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    area->local.mxcsr = (mxcsr & ~0x3fu) | 0x1f80;
}

/* ---- What it is ------------------------------------------------------------------------------ */

/* Registers of ours hold what is noted; they are the program's again behind it. */
static bool run_notes(struct as_variant_area *area, const struct as_patch_variant *notes)
{
    struct as_variant_local *local = &area->local;
    const uint64_t most = as_variants.limit_ms * TRIPS_A_MS + 1;
    const uint64_t log = (uint64_t)(uintptr_t)area->log;
    const bool tallies = notes->tally != AS_PATCH_NONE, logs = notes->log != AS_PATCH_NONE;
    uint64_t *tally = &local->general[tallies ? notes->tally : 0];
    uint64_t *next = &local->general[logs ? notes->log : 0];
    const uint64_t of_tally = *tally, of_next = *next;
    local->trips = 0;
    local->log = log;
    if (tallies)
        *tally = most;
    if (logs)
        *next = log;
    const bool ran = as_variant_run_at(area, as_variants.entry[area->region->first_variant]);
    if (tallies) {
        *tally = of_tally;
        local->trips = most - local->left[notes->tally];
    }
    if (logs) {
        *next = of_next;
        local->log = local->left[notes->log];
    }
    if (ran && notes->bits & AS_VARIANT_BOUNDED && local->trips == most)
        area->flags |= AS_VARIANT_ENDLESS;
    area->notes = (local->log - log) / sizeof *area->log;
    return !(area->flags & AS_VARIANT_ENDLESS) && ran;
}

static void see_notes(struct as_variant_area *area, const struct as_patch_variant *notes, bool ran)
{
    if (!ran && area->notes >= AS_VARIANT_LOG_B / sizeof *area->log)
        area->flags = AS_VARIANT_WIDE;
    if (ran && area->notes && notes->bits & AS_VARIANT_READS && as_variant_loads_stores(area))
        area->flags |= AS_VARIANT_HELD;
}

/* Where branches are sure, and addresses of stores alone are not, what does not store can run. */
bool as_variant_record(struct as_variant_area *area, struct as_variant_record *record)
{
    const struct as_patch_variant *notes = as_variant_of(area->region);
    prepare_state(area);
    if (!as_variant_save_frame(area)) {
        area->flags = AS_VARIANT_HELD;
        record->flags = AS_VARIANT_HELD;
        record->kind = AS_VARIANT_REC;
        return false;
    }
    const bool ran = run_notes(area, notes);
    as_variant_see_slots(area);
    as_variant_restore_frame(area);
    as_variant_drain(area->notes * sizeof *area->log);
    area->trips = area->local.trips;
    see_notes(area, notes, ran);
    record->trips = area->local.trips;
    record->kind = AS_VARIANT_REC;
    record->t0 = area->local.t0;
    record->ticks = ran ? area->local.t1 - area->local.t0 : 0;
    const bool hits = ran && as_variant_hits_frame(area);
    area->flags |= hits ? AS_VARIANT_HELD : 0;
    record->flags = (uint16_t)area->flags;
    return area->flags == 0 ||
           (area->flags == AS_VARIANT_HELD && !hits && !(notes->bits & AS_VARIANT_DECIDES));
}

/* ---- The variant ----------------------------------------------------------------------------- */

/* Before what is timed of AGAIN the same runs once, so that its data lie as near as they may. */
static bool go_before(struct as_variant_area *area, const uint8_t *entry, bool writes)
{
    const bool ran = as_variant_run_at(area, entry);
    as_variant_restore_frame(area);
    if (writes)
        as_variant_restore(area);
    return ran;
}

bool as_variant_vary(struct as_variant_area *area, const struct as_patch_variant *variant,
                     struct as_variant_record *record, uint32_t number)
{
    const bool writes = variant->bits & AS_VARIANT_WRITES;
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_variant *first = as_patch_at(plan, &plan->variant);
    record->kind = (uint16_t)variant->kind;
    record->ticks = 0;
    const bool taken = !writes || as_variant_save(area);
    const unsigned together = as_variant_wait_for_round(area, number);
    if (taken) {
        const uint8_t *entry = as_variants.entry[variant - first];
        as_variant_watch(area);
        const bool ran = (variant->kind != AS_VARIANT_AGAIN || go_before(area, entry, writes)) &&
                         as_variant_run_at(area, entry);
        if (as_variant_was_switched(area))
            area->flags |= AS_VARIANT_SWITCHED;
        as_variant_restore_frame(area);
        record->t0 = area->local.t0;
        record->ticks = ran ? area->local.t1 - area->local.t0 : 0;
        record->written_b = writes ? area->copied_b : 0;
        if (writes)
            as_variant_restore(area);
    }
    record->flags = (uint16_t)(area->flags | together << AS_VARIANT_TOGETHER);
    return !(area->flags & ~(uint32_t)AS_VARIANT_SWITCHED);
}
