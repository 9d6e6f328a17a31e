/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices of the iterations of a loop that is seldom entered. Its clone is left at the header when a
 * register has the value of its limit, and goes on through the stub of its entry, as another
 * instance: so that one entry gives as many samples as are wanted. How many iterations a slice has
 * is found by pilots, which run as the program has them. Uses general registers alone.
 */
#include "agent/patcher/variant.h"

enum { PILOT_TRIPS = 1024, PILOTS = 4, TRIES_MOST = 64 };
#define SLICE_TICKS (UINT64_C(1) << 15) /* of the program's own run: some 10 us */
#define TRIPS_LEAST UINT64_C(16)
#define TRIPS_MOST  (UINT64_C(1) << 20)
#define GAP_MOST    (UINT64_C(1) << 24)

__thread uint64_t as_variant_limit[AS_PATCHER_COUNTDOWNS];

static const struct as_patch_region *region_of(uint64_t number)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    return (const struct as_patch_region *)as_patch_at(plan, &plan->region) + number;
}

bool as_variant_is_sliced(uint64_t number)
{
    return number < AS_PATCHER_COUNTDOWNS && region_of(number)->slice_reg != AS_PATCH_NONE;
}

bool as_variant_lacks_limit(uint64_t number)
{
    return number >= AS_PATCHER_COUNTDOWNS && region_of(number)->slice_reg != AS_PATCH_NONE;
}

void as_variant_limit_to(const struct as_variant_area *area, uint64_t number, uint64_t trips)
{
    const struct as_patch_region *region = region_of(number);
    as_variant_limit[number] =
        area->local.general[region->slice_reg] + trips * (uint64_t)region->slice_step;
}

static bool is_at_limit(const struct as_variant_area *area, uint64_t number)
{
    const struct as_patch_region *region = region_of(number);
    const uint64_t differs = area->local.general[region->slice_reg] ^ as_variant_limit[number];
    return (region->slice_b == 8 ? differs : (uint32_t)differs) == 0;
}

/* A power of two, so that all slices stand in one bucket. */
static uint64_t trips_of(uint64_t pilot_ticks)
{
    const uint64_t wanted = SLICE_TICKS * PILOT_TRIPS / pilot_ticks;
    uint64_t trips = TRIPS_LEAST;
    while (trips * 2 <= wanted && trips < TRIPS_MOST)
        trips *= 2;
    return trips;
}

/* The pilot that has just ended, if it came to its end. The quickest tells. */
static void end_pilot(const struct as_variant_area *area, uint64_t number,
                      struct as_variant_slicing *it)
{
    const uint64_t ticks = area->local.t1 - area->local.t0;
    if (area->pilot != number + 1 || !is_at_limit(area, number))
        return;
    if (it->pilots == 0 || ticks < it->least)
        it->least = ticks ? ticks : 1;
    if (++it->pilots == PILOTS)
        it->trips = trips_of(it->least);
}

/* A loop that never runs so often has instances that are whole. */
bool as_variant_knows_slice(struct as_variant_area *area, uint64_t number)
{
    struct as_variant_slicing *it = &area->slicing[number];
    if (!it->trips)
        end_pilot(area, number, it);
    if (!it->trips && ++it->tries > TRIES_MOST) {
        it->trips = TRIPS_MOST;
        it->least = PILOT_TRIPS;
    }
    area->pilot = it->trips ? 0 : number + 1;
    if (!it->trips)
        as_variant_limit_to(area, number, PILOT_TRIPS);
    return it->trips;
}

enum as_variant_way as_variant_pass(const struct as_variant_area *area, uint64_t number)
{
    const struct as_variant_slicing *it = &area->slicing[number];
    const uint64_t ran_ns = area->asked_ran_ns - area->begun_ran_ns;
    const uint64_t needed_ns = area->file->spent_ns / as_variants.share * 100;
    const uint64_t more_ns = needed_ns > ran_ns ? needed_ns - ran_ns : 0;
    uint64_t trips = as_variant_ticks_of(area, more_ns) / it->least * PILOT_TRIPS;
    trips = trips < it->trips ? it->trips : trips;
    as_variant_limit_to(area, number, trips < GAP_MOST ? trips : GAP_MOST);
    return AS_VARIANT_PASSES;
}
